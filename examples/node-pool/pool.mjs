/** A pool of connections. `report` is called with each step: {action, parameters, state}. */
export class Pool {
  #idle;
  #by = new Map(); // connection -> client

  constructor(connections, { checked = false, report = () => {} } = {}) {
    this.#idle = [...connections];
    this.checked = checked;
    this.report = report;
  }

  borrow(client) {
    const connection = this.#idle.pop();
    if (connection === undefined) return undefined;
    this.#by.set(connection, client);
    this.#step("borrow", client, connection);
    return connection;
  }

  giveBack(client, connection) {
    if (this.checked && this.#by.get(connection) !== client) return; // it was given back before
    this.#idle.push(connection);
    this.#by.delete(connection);
    this.#step("give_back", client, connection);
  }

  #step(action, client, connection) {
    const by = this.#by.get(connection) ?? null;
    const state = { Connection: { [connection]: { state: by ? "Borrowed" : "Idle", by } } };
    this.report({ action, parameters: { c: client, k: connection }, state });
  }
}
