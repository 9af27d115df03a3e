/** A session of `schedproof serve`: records go to the service in the order in which they are sent. */
export class Session {
  #taken = 0;
  #verdict = "conforms";
  #queue = Promise.resolve();

  static async create(server, header) {
    const { id } = await ask(server, "/sessions", "POST", header);
    return new Session(server, `/sessions/${id}`);
  }

  constructor(server, path) {
    this.server = server;
    this.path = path;
  }

  /** Sends a record, unless the verdict is final. `after` makes sure that none is lost or validated twice. */
  send(record) {
    this.#queue = this.#queue.then(async () => {
      if (this.#verdict !== "conforms") return;
      const answer = await ask(this.server, `${this.path}/records?after=${this.#taken++}`, "POST", [record]);
      this.#verdict = answer.verdict;
    });
  }

  /** The report on all records that were sent; it ends the session. */
  async report() {
    await this.#queue;
    const report = await ask(this.server, this.path, "GET");
    await ask(this.server, this.path, "DELETE");
    return report;
  }
}

async function ask(server, path, method, body) {
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  const answer = await fetch(server + path, { method, headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}
