"use strict";
/** Lays out a graph with dagre, and draws it as SVG. Nodes and arrows have the classes that graphviz gives them. */
const drawGraph = (() => {
  const NS = "http://www.w3.org/2000/svg", FONT = "Helvetica, Arial, sans-serif";
  const LABEL = 14, DETAIL = 11, WORD = 13, GAP = 8, DOT = 6;
  const brush = document.createElement("canvas").getContext("2d");

  function width(text, size, weight = "") {
    brush.font = `${weight} ${size}px ${FONT}`;
    return brush.measureText(text).width;
  }

  function element(name, attributes, ...children) {
    const made = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) if (value !== "" && value !== undefined) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function words(text, x, y, size, attributes = {}) {
    return element("text", { x, y, "text-anchor": "middle", "font-size": size, "font-family": FONT, ...attributes }, text);
  }

  function titled(group, text) {
    if (text) group.prepend(element("title", {}, text));
    return group;
  }

  function box(node, inset, round) {
    const w = node.width / 2 - inset, h = node.height / 2 - inset, r = Math.max(0, round - inset), { x, y } = node;
    return `M${x - w + r},${y - h}H${x + w - r}Q${x + w},${y - h} ${x + w},${y - h + r}V${y + h - r}Q${x + w},${y + h} ${x + w - r},${y + h}`
      + `H${x - w + r}Q${x - w},${y + h} ${x - w},${y + h - r}V${y - h + r}Q${x - w},${y - h} ${x - w + r},${y - h}Z`;
  }

  function drawNode(node, place) {
    const look = { fill: node.fill ?? "", stroke: node.border ?? "", "stroke-dasharray": node.dashed ? "5 3" : "", "stroke-width": node.thick ? 2.5 : 1.3 };
    const group = element("g", { class: "node", id: node.element ?? "" }, element("path", { d: box(place, 0, node.square ? 0 : 8), ...look }));
    if (node.double) group.append(element("path", { d: box(place, 4, node.square ? 0 : 8), ...look }));
    const top = place.y - (LABEL + node.details.length * (DETAIL + 2)) / 2;
    group.append(words(node.label, place.x, top + LABEL - 2, LABEL, { "font-weight": "bold" }));
    node.details.forEach((line, n) => group.append(words(line, place.x, top + LABEL + (n + 1) * (DETAIL + 2) - 1, DETAIL)));
    return titled(group, [node.label, ...node.details, ...(node.initial ? ["initial"] : []), ...(node.double ? ["final"] : [])].join(", "));
  }

  /** A smooth line through points: halfway points are on it, the others pull at it. */
  function smooth(points) {
    const [first, ...rest] = points, last = rest.at(-1);
    let line = `M${first.x},${first.y}`;
    rest.slice(0, -1).forEach((point, n) => {
      const next = rest[n + 1], end = n === rest.length - 2 ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
      line += `Q${point.x},${point.y} ${end.x},${end.y}`;
    });
    return rest.length < 2 ? `${line}L${last.x},${last.y}` : line;
  }

  function drawEdge(edge, place) {
    const points = place.points, tip = points.at(-1), before = points.at(-2) ?? points[0];
    const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1, dx = (tip.x - before.x) / length, dy = (tip.y - before.y) / length;
    const at = (along, aside) => `${tip.x - along * dx + aside * dy},${tip.y - along * dy - aside * dx}`;
    const look = { stroke: edge.colour ?? "", "stroke-width": edge.thick ? 2 : 1.1 };
    const group = element("g", { class: "edge", id: edge.element ?? "" },
      element("path", { d: smooth(points), fill: "none", "stroke-dasharray": edge.dashed ? "5 3" : "", ...look }),
      element("polygon", { points: edge.barred ? `${at(0, 5)} ${at(0, -5)} ${at(2, -5)} ${at(2, 5)}` : `${at(0, 0)} ${at(9, 4)} ${at(9, -4)}`, fill: edge.colour ?? "", ...look }));
    edge.lines.forEach((line, n) => group.append(words(line, place.x, place.y + (n - (edge.lines.length - 1) / 2) * (WORD + 2) + WORD / 3, WORD, { fill: edge.colour ?? "", style: "paint-order: stroke; stroke: var(--paper, #fff); stroke-width: 5px" })));
    return titled(group, edge.notes);
  }

  /** @param graph {nodes, edges, boxes} as graph.py writes it; nodes and edges may have an `element`, the id of what is drawn. */
  return function drawGraph(graph) {
    const laid = new dagre.graphlib.Graph({ multigraph: true, compound: true });
    laid.setGraph({ rankdir: "LR", nodesep: 30, ranksep: 45, marginx: 12, marginy: 12 }).setDefaultEdgeLabel(() => ({}));
    for (const node of graph.nodes) {
      const inside = Math.max(width(node.label, LABEL, "bold"), ...node.details.map((line) => width(line, DETAIL)));
      laid.setNode(`n${node.id}`, { width: inside + 22, height: LABEL + node.details.length * (DETAIL + 2) + 16 });
      if (!node.initial) continue;
      laid.setNode(`i${node.id}`, { width: 2 * DOT, height: 2 * DOT });
      laid.setEdge(`i${node.id}`, `n${node.id}`, { width: 0, height: 0, weight: 4 }, "initial");
    }
    graph.edges.forEach((edge, n) => {
      const size = { width: Math.max(0, ...edge.lines.map((line) => width(line, WORD) + GAP)), height: edge.lines.length * (WORD + 2) + GAP, labelpos: "c" };
      laid.setEdge(`n${edge.source}`, `n${edge.target}`, size, `e${n}`);
    });
    (graph.boxes ?? []).forEach((each, n) => {
      laid.setNode(`b${n}`, {});
      for (const id of each.nodes) if (laid.hasNode(`n${id}`)) laid.setParent(`n${id}`, `b${n}`);
    });
    dagre.layout(laid);
    const { width: wide, height: high } = laid.graph();
    const svg = element("svg", { viewBox: `0 0 ${Math.ceil(wide)} ${Math.ceil(high) + 16}`, width: Math.ceil(wide), height: Math.ceil(high) + 16 });
    (graph.boxes ?? []).forEach((each, n) => {
      const place = laid.node(`b${n}`);
      if (place.width === undefined) return;
      svg.append(element("path", { d: box(place, 0, 8), fill: "none", stroke: each.border }), words(each.label, place.x, place.y - place.height / 2 - 4, WORD, { "font-weight": "bold", fill: each.border }));
    });
    graph.edges.forEach((edge, n) => svg.append(drawEdge(edge, laid.edge(`n${edge.source}`, `n${edge.target}`, `e${n}`))));
    for (const node of graph.nodes) {
      if (node.initial) {
        const start = laid.node(`i${node.id}`);
        svg.append(element("circle", { cx: start.x, cy: start.y, r: DOT, class: "initial", fill: graph.ink ?? "" }));
        svg.append(drawEdge({ lines: [], notes: "", colour: graph.ink }, { points: laid.edge(`i${node.id}`, `n${node.id}`, "initial").points }));
      }
      svg.append(drawNode(node, laid.node(`n${node.id}`)));
    }
    return svg;
  };
})();
