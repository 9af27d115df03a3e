// Two clients use a pool, and every step is validated while it runs. With --checked, the pool ignores a second return.
// Exits as `schedproof validate` does: 0 conforms, 1 violates, 3 undetermined.
import { Pool } from "./pool.mjs";
import { Session } from "./session.mjs";

const server = process.env.SCHEDPROOF_URL ?? "http://127.0.0.1:8470";
const objects = { Connection: ["db1", "db2"], Client: ["ann", "bob"] };
const session = await Session.create(server, { schedproof: 1, system: "connection-pool", objects });
const checked = process.argv.includes("--checked");
const pool = new Pool(objects.Connection, { checked, report: (record) => session.send(record) });

/** Uses a connection; the second query of ann fails. */
function query(client, fails) {
  const connection = pool.borrow(client);
  try {
    if (fails) throw new Error("connection reset");
  } catch {
    pool.giveBack(client, connection); // the mistake: `finally` gives it back, too
  } finally {
    pool.giveBack(client, connection);
  }
}

query("ann", false);
query("bob", false);
query("ann", true);
pool.borrow("ann");
pool.borrow("bob"); // without the check, the same connection

const { verdict, records, first_departure: first } = await session.report();
console.log(`${verdict} after ${records} records`);
if (first) console.log(first.reason);
process.exitCode = { conforms: 0, violates: 1 }[verdict] ?? 3;
