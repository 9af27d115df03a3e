// Reads formulas in the words of model/lang/wording.py, `show_exactly`, and evaluates them as model/semantics/evaluate.py does.
// docs/howto/play.md has the grammar.

/** The reader's mistake, in one line: where, what, and what to write. It begins at the character `at`, counted from 0. */
class Mistake extends Error {
  constructor(at, what, remedy) {
    super(`Character ${at + 1}: ${what}; ${remedy}.`);
    this.at = at;
  }
}
/** The expression reads a field of none. */
class Undefined extends Error {}
/** The expression speaks of a step, and there is none, or one without the parameter that it names. */
class NotHere extends Error {}

const KEYWORDS = new Set(["and", "or", "not", "if", "then", "exactly", "for", "some", "those", "with", "without", "in", "on",
  "afterwards", "none", "true", "false", "the"]);
const TOKEN = /\s*(?:"((?:[^"\\]|\\.)*)"|(\d+)|([\p{L}_][\p{L}\p{N}_]*(?:-[\p{L}_][\p{L}\p{N}_]*)*)|(\.\.|<=|>=|!=|[.,:(){}=<>+-]))/uy;
/** What readers of other languages write, and what it is here. */
const FOREIGN_WORDS = new Map(["exists", "any"].map((word) => [word, "some"]));
for (const word of ["forall", "all", "every", "each"]) FOREIGN_WORDS.set(word, "for every");
const FOREIGN_SIGNS = new Map([["&", "and"], ["∧", "and"], ["|", "or"], ["∨", "or"], ["!", "not"], ["~", "not"], ["¬", "not"], ["∀", "for every"], ["∃", "some"],
  ["∈", "in"], ["≤", "<="], ["≥", ">="], ["≠", "!="], ["→", "if A, then B"], ["⇒", "if A, then B"], ["⇔", "exactly when"], ["'", "quotation marks (\")"]]);
const MOST_DEPTH = 60; // brackets and quantifiers inside each other
const MOST_READS = 200_000; // evaluations of one expression at one step

const BOOL = { kind: "bool" }, INT = { kind: "int" };
const setOf = (sort) => ({ kind: "set", sort });
const isSame = (one, other) => one.kind === other.kind && (one.sort === undefined || other.sort === undefined || one.sort === other.sort)
  && (one.values?.join("\0") ?? "") === (other.values?.join("\0") ?? "");

function typeWords(type) {
  switch (type.kind) {
    case "bool": return "true or false";
    case "int": return "a number";
    case "ref": return type.sort === undefined ? "none" : `an object of ${type.sort}`;
    case "set": return type.sort === undefined ? "a set" : `a set of ${type.sort}`;
    case "name": return "a name";
    default: return `one of ${type.values.join(", ")}`;
  }
}

function tokens(text) {
  const found = [];
  const end = text.trimEnd().length;
  let at = 0;
  while (at < end) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    const from = at + /^\s*/.exec(text.slice(at))[0].length;
    if (!match) {
      const sign = String.fromCodePoint(text.codePointAt(from));
      const instead = FOREIGN_SIGNS.get(sign);
      throw mistake(from, sign === '"' ? "a quotation mark is not closed" : `“${sign}” has no meaning here`, instead ? `write ${instead}` : "write names in quotation marks if they are not words");
    }
    at = TOKEN.lastIndex;
    const [, name, number, word, sign] = match;
    found.push({ from, to: at, name: name === undefined ? word : unquoted(name, from), number, sign, isKeyword: word !== undefined && KEYWORDS.has(word), word });
  }
  return [...found, { from: end, to: end }];
}

/** The name in quotation marks; \\" and \\\\ stand for a quotation mark and a backslash, as in JSON. */
function unquoted(text, from) {
  try {
    return JSON.parse(`"${text.replaceAll("\t", "\\t")}"`);
  } catch {
    throw mistake(from, "a backslash has no meaning here", 'write \\\\ for a backslash, and \\" for a quotation mark');
  }
}

const mistake = (at, what, remedy) => new Mistake(at, what, remedy);
const choose = (names, wrong) => {
  const similar = wrong === undefined ? [] : names.filter((each) => isSimilar(each, wrong)).slice(0, 3);
  const hint = similar.length ? `did you mean ${similar.join(" or ")}? ` : "";
  return hint + (names.length > 12 ? `choose from ${names.slice(0, 12).join(", ")}, ...` : names.length ? `choose from ${names.join(", ")}` : "there is none");
};

/** Whether one name becomes the other by few insertions, deletions and replacements, or by another case. */
function isSimilar(one, other) {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  if (a === b) return true;
  const limit = Math.floor(Math.max(a.length, b.length) / 3);
  if (Math.abs(a.length - b.length) > limit || Math.max(a.length, b.length) > 100) return false;
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length] <= limit;
}

/** The expression, and below it carets from the character `at` to the end of the word. A long one is cut. */
function excerpt(text, at) {
  const word = /^(?:[\p{L}\p{N}_-]+|.)/u.exec(text.slice(at))?.[0] ?? " ";
  const from = Math.max(0, at - 60), line = text.slice(from, at + 60).replaceAll(/\s/gu, " ");
  return `${from ? "…" : ""}${line}\n${" ".repeat(at - from + (from ? 1 : 0))}${"^".repeat(Math.min(word.length, 60))}`;
}

/**
 * Reads an expression.
 * A node of the result has its `type`, `op`, `parts`, place in the text (`from`, `to`), `cost` (the evaluations that it may need),
 * `isOfStep` (whether it speaks of a step), `changes` (whether it reads what steps change), and `value(moment)`. A moment has `state`, `after`, `fired`, `bound` and `parameters`.
 * Sets are bit masks in BigInt, numbers BigInt too, references -1 or an object's number, and enumeration values and states their positions.
 */
function readExpression(text, vocabulary) {
  const all = tokens(text);
  let at = 0, depth = 0;
  const objects = new Map();
  for (const [sort, { objects: named }] of Object.entries(vocabulary.sorts)) named.forEach((name, number) => objects.set(name, { sort, number }));
  const scope = []; // the bound variables, innermost last

  const isWord = (...words) => words.includes(all[at].word);
  const isSign = (...signs) => signs.includes(all[at].sign);
  const shownToken = (token) => token.to === token.from ? "the end" : `“${text.slice(token.from, token.to)}”`;
  const takeWord = (...words) => isWord(...words) ? all[at++] : null;
  const takeSign = (...signs) => isSign(...signs) ? all[at++] : null;
  const expected = (what) => mistake(all[at].from, `${shownToken(all[at])} where ${what} is needed`, `write ${what}`);
  function needWord(word) { if (!takeWord(word)) throw expected(`“${word}”`); }
  function needSign(sign) { if (!takeSign(sign)) throw expected(`“${sign}”`); }
  function needName(what) {
    const token = all[at];
    if (token.name === undefined || token.isKeyword) throw expected(what);
    at++;
    return token;
  }
  function nested(read) {
    if (++depth > MOST_DEPTH) throw mistake(all[at].from, "the expression is too deep", "write less inside brackets");
    const node = read();
    depth--;
    return node;
  }
  function node(from, op, type, parts, value, more = {}) {
    const cost = 1 + parts.reduce((sum, part) => sum + part.cost, 0);
    return { from, to: all[at - 1].to, op, type, parts, value, cost, isOfStep: parts.some((part) => part.isOfStep),
      readsAfter: parts.some((part) => part.readsAfter), changes: parts.some((part) => part.changes), ...more };
  }
  const check = (part, type, what) => {
    if (!isSame(part.type, type) || part.type.kind === "name") throw unfit(part, what);
    return part;
  };
  const unfit = (part, what) => part.type.kind === "name" ? unknownName(part) : mistake(part.from, `${what} is needed, and this is ${typeWords(part.type)}`, `write ${what}`);
  const formulaPart = (part) => check(part, BOOL, "a formula");
  function unknownName(part) {
    const instead = FOREIGN_WORDS.get(part.name), sort = Object.keys(vocabulary.sorts)[0];
    if (instead !== undefined && (all[at].name !== undefined || isSign("(", "["))) return mistake(part.from, `“${part.name}” is not a word of formulas`, `write, for example, ${instead} ${sort} x: ...`);
    return mistake(part.from, `unknown name “${part.name}”`, choose([...scope.map((each) => each.name), ...objects.keys()], part.name));
  }

  // --- formulas, from what binds least to what binds most

  function formula() { return nested(iff); }

  function iff() {
    const from = all[at].from, left = disjunction();
    if (!takeWord("exactly")) return left;
    needWord("when");
    const parts = [left, disjunction()].map(formulaPart);
    return node(from, "iff", BOOL, parts, (m) => parts[0].value(m) === parts[1].value(m));
  }

  function joined(word, op, next, decisive) {
    const from = all[at].from, parts = [next()];
    while (takeWord(word)) parts.push(next());
    if (parts.length === 1) return parts[0];
    parts.forEach(formulaPart);
    return node(from, op, BOOL, parts, decisive ? (m) => parts.some((part) => part.value(m)) : (m) => parts.every((part) => part.value(m)));
  }
  const disjunction = () => joined("or", "or", conjunction, true);
  const conjunction = () => joined("and", "and", single, false);

  function single() {
    const from = all[at].from;
    if (takeWord("not")) {
      const part = formulaPart(nested(single));
      return node(from, "not", BOOL, [part], (m) => !part.value(m));
    }
    if (takeWord("if")) {
      const premise = formulaPart(formula());
      needSign(",");
      needWord("then");
      const conclusion = formulaPart(formula());
      return node(from, "if", BOOL, [premise, conclusion], (m) => !premise.value(m) || conclusion.value(m));
    }
    if (isWord("for", "some")) return quantified(from);
    if (takeWord("afterwards")) {
      const part = nested(single);
      if (part.readsAfter) throw mistake(from, "“afterwards” inside “afterwards”", "leave one out");
      return node(from, "after", part.type, [part], (m) => part.value({ ...m, state: m.after, after: null }), { isOfStep: true, readsAfter: true });
    }
    return comparison();
  }

  function quantified(from) {
    const isUniversal = takeWord("for") !== null && takeWord("every") !== null;
    if (!isUniversal) needWord("some");
    const variables = [];
    do variables.push(variable(variables[variables.length - 1])); while (takeSign(","));
    needSign(":");
    scope.push(...variables);
    const body = formulaPart(formula());
    scope.length -= variables.length;
    const names = variables.map((each) => each.name);
    const number = variables.reduce((product, each) => product * each.domain.length, 1);
    const value = (m) => {
      const search = (n, bound) => n === names.length
        ? body.value({ ...m, bound }) !== isUniversal
        : variables[n].domain.some((each) => search(n + 1, { ...bound, [names[n]]: each }));
      return search(0, m.bound) !== isUniversal;
    };
    return node(from, isUniversal ? "every" : "some", BOOL, [body], value, { variables, number, cost: 1 + number * body.cost });
  }

  /** A bound variable: a name after its type, after a variable of the same type, or one that begins with a sort's letter. */
  function variable(previous) {
    const start = at, plain = all[at].name !== undefined && !isSign("{") && (all[at + 1].sign === ":" || all[at + 1].sign === "," || all[at + 1].word === "with");
    let type = plain ? null : typeName();
    const token = needName("the name of a variable");
    if (type === null) {
      const sort = Object.entries(vocabulary.sorts).find(([, each]) => token.name.replace(/\d+$/, "") === each.short)?.[0];
      type = previous?.type ?? (sort !== undefined ? { kind: "ref", sort } : null);
      if (type === null) throw mistake(all[start].from, `the type of “${token.name}” is unknown`, `write a sort before it: ${Object.keys(vocabulary.sorts)[0]} ${token.name}`);
    }
    return { name: token.name, type, domain: domain(type, all[start].from) };
  }

  function typeName() {
    if (isSign("{")) return { kind: "enum", values: names("a value").map((token) => token.name) };
    if (isSign("-") || all[at].number !== undefined) {
      const low = wholeNumber();
      needSign("..");
      return { kind: "int", low, high: wholeNumber() };
    }
    if (takeWord("Bool")) return BOOL;
    const isSet = all[at].word === "set" && all[at + 1].word === "of";
    if (isSet) at += 2;
    const token = needName("a sort");
    if (!Object.hasOwn(vocabulary.sorts, token.name)) throw mistake(token.from, `unknown sort “${token.name}”`, choose(Object.keys(vocabulary.sorts), token.name));
    return isSet ? setOf(token.name) : { kind: "ref", sort: token.name };
  }

  function domain(type, from) {
    const count = (number) => Array.from({ length: number }, (_, n) => n);
    const size = type.sort === undefined ? 0 : vocabulary.sorts[type.sort].objects.length;
    if (type.kind === "set" && size > 12 || type.kind === "int" && type.high - type.low > 1000n) throw mistake(from, "the variable has too many values", "use another variable");
    switch (type.kind) {
      case "ref": return count(size);
      case "set": return count(2 ** size).map(BigInt);
      case "bool": return [false, true];
      case "enum": return count(type.values.length);
      default: return count(Number(type.high - type.low) + 1).map((n) => BigInt(n) + type.low);
    }
  }

  function wholeNumber() {
    const sign = takeSign("-") ? -1n : 1n;
    if (all[at].number === undefined) throw expected("a number");
    return sign * BigInt(all[at++].number);
  }

  function names(what) {
    const listed = [];
    needSign("{");
    while (!isSign("}")) {
      listed.push(needName(what));
      if (!takeSign(",")) break;
    }
    needSign("}");
    return listed;
  }

  // --- comparisons and values

  function comparison() {
    const from = all[at].from, left = sum();
    if (left.type.kind === "ref" && left.type.sort !== undefined && all[at].name !== undefined && !all[at].isKeyword) return inStates(from, left);
    if (left.type.kind === "name" && all[at].name !== undefined && !all[at].isKeyword) throw unknownName(left); // an object, in a state
    const token = takeSign("=", "!=", "<", "<=", ">", ">=") ?? takeWord("not", "in");
    if (!token) return left;
    if (token.sign === "=" && isSign("=", ">")) throw mistake(token.from, `“=${all[at].sign}” has no meaning here`, all[at].sign === "=" ? "write =" : "write if A, then B");
    const right = sum();
    const sign = token.sign ?? token.word;
    if (sign === "in") {
      check(right, setOf(undefined), "a set");
      check(left, { kind: "ref", sort: right.type.sort }, `an object of ${right.type.sort ?? "a sort"}`);
      return node(from, "in", BOOL, [left, right], (m) => {
        const number = left.value(m);
        return number >= 0 && (right.value(m) >> BigInt(number) & 1n) === 1n;
      });
    }
    if (sign[0] === "<" || sign[0] === ">") {
      const parts = [left, right].map((part) => check(part, INT, "a number"));
      const compare = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b }[sign];
      return node(from, sign, BOOL, parts, (m) => compare(parts[0].value(m), parts[1].value(m)));
    }
    const [a, b] = same(left, right);
    return sign === "="
      ? node(from, "=", BOOL, [a, b], (m) => a.value(m) === b.value(m))
      : node(from, "not", BOOL, [a, b], (m) => a.value(m) !== b.value(m), { op: "!=" });
  }

  /** Two values of one type: a name becomes a value of the other's type. */
  function same(left, right) {
    const parts = [valueOf(left, right.type), valueOf(right, left.type)];
    if (!isSame(parts[0].type, parts[1].type)) throw mistake(right.from, `${typeWords(left.type)} is compared with ${typeWords(right.type)}`, `write ${typeWords(left.type)}`);
    return parts;
  }

  function valueOf(part, type) {
    if ((part.op === "name" || part.op === "object") && type.values?.length) {
      const number = type.values.indexOf(part.name);
      if (number >= 0) return { ...part, op: "constant", type, parts: [], value: () => number };
      if (part.type.kind === "name") throw mistake(part.from, `unknown value “${part.name}”`, choose(type.values, part.name));
    }
    if (part.type.kind === "name") throw unknownName(part);
    return part;
  }

  function inStates(from, of) {
    const { states, slot } = vocabulary.sorts[of.type.sort];
    const accepted = new Set();
    do {
      const token = needName("a state");
      const number = states.indexOf(token.name);
      if (number < 0) throw mistake(token.from, `unknown state “${token.name}” of ${of.type.sort}`, choose(states, token.name));
      accepted.add(number);
    } while (isWord("or") && all[at + 1].name !== undefined && !objects.has(all[at + 1].name) && !scope.some((each) => each.name === all[at + 1].name)
      && states.includes(all[at + 1].name) && all[at + 2]?.word !== "on" && at++ >= 0);
    return node(from, "is", BOOL, [of], (m) => accepted.has(read(m, of.value(m), slot)), { changes: true });
  }

  function read(m, number, slot) {
    if (number < 0) throw new Undefined();
    return m.state[slot + number];
  }

  function sum() {
    const from = all[at].from;
    let left = primary();
    for (;;) {
      const token = takeSign("+", "-") ?? takeWord("with", "without");
      if (!token) return left;
      const base = left, right = primary();
      if (token.sign) {
        const sign = token.sign === "+" ? 1n : -1n;
        for (const part of [base, right]) check(part, INT, "a number");
        left = node(from, "sum", INT, [base, right], (m) => base.value(m) + sign * right.value(m));
      } else {
        check(base, setOf(undefined), "a set");
        check(right, { kind: "ref", sort: base.type.sort }, `an object of ${base.type.sort ?? "a sort"}`);
        const isWith = token.word === "with";
        left = node(from, "adjusted", setOf(base.type.sort ?? right.type.sort), [base, right], (m) => {
          const mask = base.value(m), number = right.value(m);
          if (number < 0) return mask;
          return isWith ? mask | 1n << BigInt(number) : mask & ~(1n << BigInt(number));
        });
      }
    }
  }

  function primary() {
    const from = all[at].from;
    let part = atom(from);
    while (isSign(".")) {
      at++;
      const token = needName("a field");
      part = field(from, part.type.kind === "name" ? (() => { throw unknownName(part); })() : part, token);
    }
    return part;
  }

  function field(from, of, token) {
    if (of.type.kind !== "ref" || of.type.sort === undefined) throw mistake(from, `${typeWords(of.type)} has no field`, "write an object before the full stop");
    const words = vocabulary.sorts[of.type.sort];
    if (token.name === "state" && words.states.length && !Object.hasOwn(words.fields, "state")) {
      const type = { kind: "state", sort: of.type.sort, values: words.states };
      return node(from, "field", type, [of], (m) => read(m, of.value(m), words.slot), { changes: true });
    }
    const place = Object.hasOwn(words.fields, token.name) ? words.fields[token.name] : null;
    if (!place) throw mistake(token.from, `unknown field “${token.name}” of ${of.type.sort}`, choose([...(words.states.length ? ["state"] : []), ...Object.keys(words.fields)], token.name));
    const type = typeOf(place.type);
    const decode = decoder(place.type);
    const value = place.slot === null
      ? (m) => { const number = of.value(m); if (number < 0) throw new Undefined(); return decode(place.values[number]); }
      : (m) => decode(read(m, of.value(m), place.slot));
    return node(from, "field", type, [of], value, { changes: of.changes || place.slot !== null });
  }

  function atom(from) {
    if (takeSign("(")) {
      const inner = formula();
      needSign(")");
      return { ...inner, from, to: all[at - 1].to, isBracketed: true };
    }
    if (isSign("-") || all[at].number !== undefined) {
      const number = wholeNumber();
      return node(from, "constant", INT, [], () => number);
    }
    if (isSign("{")) {
      const listed = names("an object"), of = listed.map((token) => objects.get(token.name) ?? (() => { throw unknownName({ from: token.from, name: token.name }); })());
      if (new Set(of.map((each) => each.sort)).size > 1) throw mistake(from, "a set has objects of one sort", "write one set for each sort");
      const mask = of.reduce((sofar, each) => sofar | 1n << BigInt(each.number), 0n);
      return node(from, "constant", setOf(of[0]?.sort), [], () => mask);
    }
    if (takeWord("the")) {
      needWord("empty");
      needWord("set");
      return node(from, "constant", setOf(undefined), [], () => 0n);
    }
    if (takeWord("none")) return node(from, "constant", { kind: "ref" }, [], () => -1);
    if (isWord("true", "false")) {
      const isTrue = all[at++].word === "true";
      return node(from, "constant", BOOL, [], () => isTrue);
    }
    if (takeWord("those")) return those(from);
    const token = needName("a value");
    if (Object.hasOwn(vocabulary.sorts, token.name) && isSign(".") && all[at + 1].name !== undefined && (all[at + 2].word === "on" || all[at + 2].sign === "(")) {
      at++;
      return event(from, needName("an event"), token);
    }
    if (isSign("(") && FOREIGN_WORDS.has(token.name) && !Object.values(vocabulary.sorts).some((each) => Object.hasOwn(each.events, token.name))) throw unknownName({ from, name: token.name });
    if (isWord("on") || isSign("(")) return event(from, token);
    const { name } = token;
    const bound = scope.findLast((each) => each.name === name);
    if (bound) return node(from, "variable", bound.type, [], (m) => m.bound[name], { name });
    const object = objects.get(name);
    if (object) return node(from, "object", { kind: "ref", sort: object.sort }, [], () => object.number, { name });
    const types = Object.values(vocabulary.actions).filter((each) => Object.hasOwn(each, name)).map((each) => each[name]);
    if (types.length && types.every((each) => isSame(typeOf(each), typeOf(types[0])))) {
      const decode = decoder(types[0]);
      return node(from, "parameter", typeOf(types[0]), [], (m) => {
        if (!Object.hasOwn(m.parameters ?? {}, name)) throw new NotHere();
        return decode(m.parameters[name]);
      }, { name, isOfStep: true, changes: true });
    }
    return node(from, "name", { kind: "name" }, [], () => { throw new NotHere(); }, { name });
  }

  function those(from) {
    const bound = variable();
    if (bound.type.kind !== "ref") throw mistake(from, "the elements of a set are objects", "write a sort before the variable");
    needWord("with");
    scope.push(bound);
    const where = formulaPart(formula());
    scope.pop();
    const value = (m) => bound.domain.reduce((mask, each) => where.value({ ...m, bound: { ...m.bound, [bound.name]: each } }) ? mask | 1n << BigInt(each) : mask, 0n);
    return node(from, "those", setOf(bound.type.sort), [where], value, { variables: [bound], cost: 1 + bound.domain.length * where.cost });
  }

  /** An event, after its name; `sort` is the name of the sort before it, as "Why" has it, if there is one. */
  function event(from, token, sort) {
    const given = [];
    if (takeSign("(")) {
      do {
        const parameter = needName("a parameter");
        needSign("=");
        given.push([parameter, sum()]);
      } while (takeSign(","));
      needSign(")");
    }
    needWord("on");
    const of = primary();
    check(of, { kind: "ref", sort: sort?.name }, sort ? `an object of ${sort.name}` : "an object");
    const events = vocabulary.sorts[of.type.sort]?.events ?? {};
    if (!Object.hasOwn(events, token.name)) throw mistake(token.from, `unknown event “${token.name}” of ${of.type.sort}`, choose(Object.keys(events), token.name));
    const types = events[token.name];
    const filled = given.map(([parameter, value]) => {
      if (!Object.hasOwn(types, parameter.name)) throw mistake(parameter.from, `unknown parameter “${parameter.name}” of ${token.name}`, choose(Object.keys(types), parameter.name));
      const type = typeOf(types[parameter.name]), part = valueOf(value, type);
      return [parameter.name, decoder(types[parameter.name]), check(part, type, typeWords(type))];
    });
    const key = `${of.type.sort}.${token.name}`;
    return node(from, "event", BOOL, [of, ...filled.map(([, , part]) => part)], (m) => {
      if (!m.fired) throw new NotHere();
      if (!m.fired.some((firing) => firing.event === key)) return false;
      const number = of.value(m);
      const firing = m.fired.find((each) => each.event === key && objects.get(each.object).number === number);
      return firing !== undefined && filled.every(([name, decode, part]) => decode(firing.payload[name]) === part.value(m));
    }, { isOfStep: true, changes: true });
  }

  if (all.length === 1) throw mistake(0, "there is no expression", "write one, for example not (c0.user = none)");
  const whole = formula();
  if (at < all.length - 1) throw mistake(all[at].from, `${shownToken(all[at])} is left over`, "join formulas with “and” or “or”, or write brackets");
  if (whole.type.kind === "name") throw unknownName(whole);
  if (whole.cost > MOST_READS) throw mistake(0, `it may need ${whole.cost.toLocaleString("en")} evaluations at each step, and ${MOST_READS.toLocaleString("en")} are the limit`, "use fewer variables");
  return { ...whole, text };
}

/** A type of the data as a type of expressions. */
const typeOf = ({ kind, sort, values }) => kind === "ref" || kind === "set" ? { kind, sort } : kind === "enum" ? { kind, values } : { kind };

/** Turns a value of the data into one of expressions. */
const decoder = ({ kind }) => kind === "set" || kind === "int" ? (value) => BigInt(value) : kind === "bool" ? (value) => value === true || value === 1 : (value) => value;

