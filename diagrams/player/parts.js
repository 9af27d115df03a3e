// Values of expressions in words, and an expression split into its parts, as diagrams/player/formulas.py splits formulas.

/** A value in words, as counterexamples print it. */
function shownValue(type, value, vocabulary) {
  switch (type.kind) {
    case "ref": return value < 0 ? "none" : vocabulary.sorts[type.sort].objects[value];
    case "set": return `{${type.sort === undefined ? "" : vocabulary.sorts[type.sort].objects.filter((_, n) => (value >> BigInt(n) & 1n) === 1n).join(", ")}}`;
    case "enum": case "state": return type.values[value];
    default: return String(value);
  }
}

/** The value of an expression at a moment in words; "" where it speaks of a step and there is none. */
function valueText(expression, moment, vocabulary) {
  try {
    if (expression.isOfStep && !moment.after) return "";
    return shownValue(expression.type, expression.value(moment), vocabulary);
  } catch (error) {
    if (error instanceof NotHere) return "";
    if (error instanceof Undefined) return "undefined";
    throw error;
  }
}

const MOST_SHOWN = 12; // the most values of a quantifier's variables that are shown one by one

/** The parts of an expression with their values at a moment, in the shape of a part in the data (`data.py`, Part). */
function partsOf(expression, moment, vocabulary, required = true) {
  if (expression.isOfStep && !moment.after) return { role: "", text: expression.text, required: null, values: [[0, ""]], parts: [], fields: [] };
  /** The text of a part, with the values of its variables in place of their names. */
  function text(each, m) {
    const places = [];
    const look = (inner, bound) => {
      if (inner.op === "variable" && Object.hasOwn(bound, inner.name)) places.push(inner);
      const rest = { ...bound };
      for (const { name } of inner.variables ?? []) delete rest[name];
      for (const below of inner.parts) look(below, rest);
    };
    look(each, m.bound);
    let words = "", from = each.from;
    for (const place of places.sort((a, b) => a.from - b.from)) {
      words += expression.text.slice(from, place.from) + shownValue(place.type, m.bound[place.name], vocabulary);
      from = place.to;
    }
    return words + expression.text.slice(from, each.to);
  }
  const shown = (each, m) => {
    try {
      return shownValue(each.type, each.value(m), vocabulary);
    } catch (error) {
      if (error instanceof Undefined) return "undefined";
      if (error instanceof NotHere) return "";
      throw error;
    }
  };
  const afterwards = (m) => ({ ...m, state: m.after, after: null });
  function fields(each, m, isAfter) {
    if (each.variables) return [];
    if (each.op === "after") return fields(each.parts[0], afterwards(m), true);
    const inner = each.parts.flatMap((part) => fields(part, m, isAfter));
    const words = `${isAfter ? "afterwards " : ""}${text(each.op === "is" ? each.parts[0] : each, m)}`;
    if (each.op === "field") return [...inner, { text: words, values: [[0, shown(each, m)]] }];
    if (each.op !== "is") return inner;
    const state = { kind: "state", values: vocabulary.sorts[each.parts[0].type.sort].states };
    const value = () => { const number = each.parts[0].value(m); if (number < 0) throw new Undefined(); return m.state[vocabulary.sorts[each.parts[0].type.sort].slot + number]; };
    return [...inner, { text: `state of ${words}`, values: [[0, shown({ type: state, value }, m)]] }];
  }
  function split(each, m, wanted) {
    const opposite = wanted === null ? null : !wanted;
    switch (each.op) {
      case "and": return ["all of", once(each.parts, m).map((part) => ["", part, m, wanted])];
      case "or": return ["one of", once(each.parts, m).map((part) => ["", part, m, wanted])];
      case "if": return ["if, then", [["if", each.parts[0], m, opposite], ["then", each.parts[1], m, wanted]]];
      case "iff": return ["both or neither", each.parts.map((part) => ["", part, m, null])];
      case "not": return split(each.parts[0], m, opposite)[0] ? ["not", [["", each.parts[0], m, opposite]]] : ["", []];
      case "after": return split(each.parts[0], afterwards(m), wanted);
      case "every": case "some": {
        if (each.number > MOST_SHOWN) return ["", []];
        let bindings = [{}];
        for (const { name, domain } of each.variables) bindings = bindings.flatMap((bound) => domain.map((value) => ({ ...bound, [name]: value })));
        const role = (bound) => each.variables.map(({ name, type }) => `${name} = ${shownValue(type, bound[name], vocabulary)}`).join(", ");
        const names = each.variables.map(({ name }) => name).join(", ");
        return [`for ${each.op} ${names}`, bindings.map((bound) => [role(bound), each.parts[0], { ...m, bound: { ...m.bound, ...bound } }, wanted])];
      }
      default: return ["", []];
    }
  }
  /** The parts, each once. */
  function once(listed, m) {
    const texts = listed.map((each) => text(each, m));
    return listed.filter((_, n) => texts.indexOf(texts[n]) === n);
  }
  let left = 300; // the most parts
  function part(role, each, m, wanted) {
    const [joint, below] = split(each, m, wanted);
    const isOpen = joint !== "" && below.length <= left;
    if (isOpen) left -= below.length;
    const isField = each.op === "field" && each.parts[0].op !== "field";
    return { role, text: isOpen ? joint : text(each, m), required: each.type.kind === "bool" ? wanted : null, values: [[0, shown(each, m)]],
      parts: isOpen ? below.map((inner) => part(...inner)) : [], fields: isOpen || isField ? [] : distinct(fields(each, m, false)), is_fixed: !each.changes };
  }
  const distinct = (listed) => listed.filter((each, n) => listed.findIndex((other) => other.text === each.text) === n);
  const top = part("", expression, moment, expression.type.kind === "bool" ? required : null);
  return { ...top, values: [[0, valueText(expression, moment, vocabulary)]] };
}

/** A part at a position, with the values of its parts before it; `before` is the same part up to there, if there is one. */
function continued(before, part, position) {
  const [value, earlier] = [part.values[0][1], (before?.values ?? []).filter(([from]) => from < position)];
  const values = earlier.length && earlier[earlier.length - 1][1] === value ? earlier : [...earlier, [position, value]];
  const hasSameParts = before?.parts.length === part.parts.length;
  return { ...part, values, parts: part.parts.map((each, n) => continued(hasSameParts ? before.parts[n] : null, each, position)) };
}

/** The position from which on a part has had its present value; null if it has had no other. */
function since(part, position) {
  const known = part.values.filter(([from, value]) => from <= position && value !== "");
  const present = known[known.length - 1]?.[1], other = known.findLastIndex(([, value]) => value !== present);
  return other < 0 ? null : known[other + 1][0];
}

/** Whether a part keeps the whole from being as required. */
function isWrong(part, position) {
  const value = valueAt(part, position);
  return part.required !== null && value !== "" && value !== String(part.required);
}

/** The wrong parts that decide: those that became wrong on the way; if none did, those that can change; else all. */
function deciding(parts, position) {
  const wrong = parts.filter((part) => isWrong(part, position));
  return [wrong.filter((part) => since(part, position) !== null), wrong.filter((part) => !part.is_fixed), wrong].find((each) => each.length) ?? [];
}
