// SPDX-License-Identifier: Apache-2.0
'use strict';
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const report = read('report'), hang = read('hang'), picture = read('picture');
const $ = (id) => document.getElementById(id);

function element(name, parent, text, classes) {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (classes) e.className = classes;
  if (parent) parent.append(e);
  return e;
}

function drawn(name, parent, attributes, text) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (text !== undefined) e.textContent = text;
  parent.append(e);
  return e;
}

const place = (o) => (o.x === undefined ? '' : ` ${o.x},${o.y}`) + (o.chip ? ` chip ${o.chip}` : '');
const plural = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`;

// ---- the head ----

// The worst of what check and hang say: clean is what neither of them has anything against.
function outcome() {
  const verdicts = [report.summary.verdict, hang.verdict];
  const said = ['hung', 'findings', 'inconclusive', 'not-judged'].filter((v) => verdicts.includes(v));
  return said.length > 0 ? said : ['clean'];
}

function head() {
  const s = report.summary, t = report.trace, said = outcome(), words = said.join(', ').replace('-', ' ');
  $('outcome').textContent = words + (t.begins_at ? ' in this part' : '');
  $('outcome').className = said[0];
  $('path').textContent = t.path;
  document.title = `${words}: ${t.path}`;
  $('about').textContent =
    `${plural(s.error, 'error')}, ${plural(s.warning, 'warning')}, ${plural(s.note, 'note')}, ` +
    `${s.waived} waived. ${t.events} events, ${t.arch}, ${t.t_first} to ${t.t_last} ${picture.unit}` +
    (t.begins_at ? `, judged from event ${t.begins_at} on` : '') + (t.truncated ? ', cut short' : '') + (t.dropped ? `, ${t.dropped} events lost` : '') +
    `. nocap ${picture.version}.`;
}

// ---- findings ----

function context(finding, parent) {
  const lines = (picture.context || {})[finding.index];
  if (!lines) return;
  const pre = element('pre', parent);
  for (const line of lines) {
    const own = line.trim().split(/\s+/)[0] === String(finding.index);
    element(own ? 'mark' : 'span', pre, line);
    pre.append('\n');
  }
}

function showFinding(f) {
  const box = element('details', $('finding-list'));
  const summary = element('summary', box);
  element('strong', summary, `${f.severity} ${f.rule}`, f.severity);
  const who = f.agent ? ` ${f.agent}${place(f)}` : place(f);
  element('span', summary, ` #${f.index} t ${f.t}${who}: ${f.observed}`);
  const body = element('div', box);
  const list = element('dl', body);
  for (const key of ['expected', 'written', 'related', 'consequences', 'count', 'reason']) {
    const value = Array.isArray(f[key]) ? f[key].map((i) => `#${i}`).join(' ') : f[key];
    if (value === undefined || value === '' || value === 0 || (key === 'count' && value === 1)) continue;
    element('dt', list, key);
    element('dd', list, value);
  }
  context(f, body);
}

function findings() {
  report.findings.forEach(showFinding);
  if (report.findings.length === 0) element('p', $('finding-list'), 'No finding.');
  const first = $('finding-list').querySelector('details');
  if (first) first.open = true;
  for (const note of report.notes || []) element('p', $('finding-list'), `Note: ${note}.`, 'note');
}

// ---- who waits ----

const partyOf = (w) => `${w.agent}${place(w)}`;
const blockerOf = (w) => w.by === undefined ? undefined
  : `${w.by}${w.by_x === undefined ? '' : ` ${w.by_x},${w.by_y}`}`;

const cited = (o, text) => (o.written ? `${text} (${o.written})` : text);

// Parties that wait for the same on the same are one box.
function boxes() {
  const all = new Map(), of = new Map();
  const add = (key, who, text, root) => {
    if (!all.has(key)) all.set(key, { parties: [], text, root, to: new Set(), depth: 0 });
    const box = all.get(key);
    if (!box.parties.includes(who)) box.parties.push(who);
    box.root = box.root || root;
    of.set(who, box);
  };
  const roots = new Map(hang.root.map((r) => [partyOf(r), r]));
  for (const r of hang.root) add(`root ${partyOf(r)}`, partyOf(r), cited(r, r.reason), true);
  for (const w of hang.waiting) {
    if (!roots.has(partyOf(w)) && !of.has(partyOf(w))) {
      add(`${w.agent.split('/')[0]}|${w.for}|${blockerOf(w)}`, partyOf(w), cited(w, w.for), false);
    }
  }
  for (const w of hang.waiting) {
    const by = blockerOf(w);
    if (by !== undefined && !of.has(by)) add(`other ${by}`, by, 'does not wait', false);
    if (by !== undefined && of.get(by) !== of.get(partyOf(w))) of.get(partyOf(w)).to.add(of.get(by));
  }
  return [...all.values()];
}

// Columns by the way to the root, which is at the right.
function layers(all) {
  for (let again = true, pass = 0; again && pass < all.length; pass++) {
    again = false;
    for (const box of all) {
      for (const to of box.to) {
        if (!box.root && box.depth < to.depth + 1) {
          box.depth = to.depth + 1;
          again = true;
        }
      }
    }
  }
  const columns = [];
  for (const box of all) (columns[box.depth] = columns[box.depth] || []).push(box);
  return columns.filter((c) => c).reverse();
}

function waitGraph(all) {
  const W = 285, H = 58, GAP = 40, columns = layers(all);
  const rows = Math.max(...columns.map((c) => c.length));
  const svg = drawn('svg', $('wait-graph'), {
    width: columns.length * (W + GAP), height: rows * (H + 16) + 10, role: 'img',
    'aria-label': 'who waits for whom; the list below says the same' });
  columns.forEach((column, c) => column.forEach((box, r) => {
    box.x = c * (W + GAP) + 5;
    box.y = r * (H + 16) + 5;
  }));
  for (const box of all) {
    for (const to of box.to) {
      const x0 = box.x + W, y0 = box.y + H / 2, back = to.x <= box.x;
      const x1 = back ? to.x + W : to.x, y1 = to.y + H / 2 + (back ? 8 : 0), bend = back ? 30 : (x1 - x0) / 2;
      drawn('path', svg, { class: 'edge', d: `M${x0} ${y0} C${x0 + bend} ${y0} ${x1 + (back ? 30 : -bend)} ${y1} ${x1} ${y1}` });
      const s = back ? 1 : -1;
      drawn('path', svg, { class: 'head', d: `M${x1} ${y1} l${s * 8} -4 v8 z` });
    }
  }
  for (const box of all) {
    const name = box.parties.length === 1 ? box.parties[0] : `${box.parties.length} \u00d7 ${box.parties[0]} ..`;
    drawn('rect', svg, { class: box.root ? 'box root' : 'box', x: box.x, y: box.y, width: W, height: H, rx: 4 });
    drawn('text', svg, { x: box.x + 8, y: box.y + 18, 'font-weight': 'bold' }, (box.root ? 'root: ' : '') + name);
    const words = box.text.length > 76 ? `${box.text.slice(0, 74)}..` : box.text;
    const cut = words.length > 38 ? words.lastIndexOf(' ', 38) : words.length;
    drawn('text', svg, { x: box.x + 8, y: box.y + 34 }, words.slice(0, cut > 0 ? cut : 38));
    drawn('text', svg, { x: box.x + 8, y: box.y + 49 }, words.slice(cut > 0 ? cut : 38).trim());
    drawn('title', svg.lastChild, {}, `${box.parties.join(', ')}: ${box.text}`);
  }
}

function waits() {
  $('wait-verdict').textContent = `${hang.verdict}: ${hang.why || ''}`;
  $('wait-verdict').className = hang.verdict;
  const all = boxes();
  if (all.length > 0) waitGraph(all);
  for (const box of all) {
    const by = [...box.to].map((to) => to.parties.join(', ')).join('; ');
    element('li', $('wait-list'), `${box.parties.join(', ')}: ${box.text}` +
      (by ? ` - waits for ${by}` : box.root ? ' - root' : ''));
  }
}

// ---- the board ----

const SPANS = 64;
const chips = [...new Set(picture.tiles.map((t) => t.chip))].sort((a, b) => a - b);
const spans = Math.min(SPANS, Math.floor((picture.last - picture.first) / picture.span) + 1);

function measure(tile, what, span) {
  return span < 0 ? tile[what].reduce((a, b) => a + b, 0) : tile[what][span];
}

// The go message of a tile when the span ends, if it is shown.
function stateOf(tile, span) {
  const group = `${tile.chip ? `chip ${tile.chip} ` : ''}core ${tile.x},${tile.y}`;
  const row = everyRow.find((r) => `${r.group} `.startsWith(`${group} `) && r.name === 'go message');
  const t = span < 0 ? whole.to : Math.min((span + 1) * picture.span, whole.to);
  const slice = row && row.slices.findLast((s) => s.from <= t && s.to >= t);
  return slice && !slice.many ? slice.name : '';
}

function describe(tile, span) {
  const found = report.findings.filter((f) => f.x === tile.x && f.y === tile.y && (f.chip || 0) === tile.chip);
  const state = stateOf(tile, span);
  return `${tile.x},${tile.y}: ${state ? `go message ${state}, ` : ''}${measure(tile, 'busy', span)} ${picture.unit} in launches, ` +
    `${measure(tile, 'waits', span)} without progress, ${plural(measure(tile, 'requests', span), 'request')}` +
    (found.length ? `; ${found.map((f) => f.rule).join(' ')}` : '');
}

function board() {
  const what = $('board-what').value, span = Number($('board-time').value), chip = Number($('board-chip').value);
  const tiles = picture.tiles.filter((t) => t.chip === chip);
  const width = Math.max(16, ...tiles.map((t) => t.x)) + 1, height = Math.max(11, ...tiles.map((t) => t.y)) + 1;
  const SIZE = 38, top = 18, left = 24, from = picture.first + span * picture.span;
  const most = Math.max(0, ...tiles.map((t) => span < 0 ? measure(t, what, -1) : Math.max(...t[what])));
  $('board-span').textContent = (span < 0 ? 'the whole trace' : `${from} to ${from + picture.span} ${picture.unit}`) +
    (most === 0 ? '' : `; at most ${number(most)} ${what === 'requests' ? 'requests' : picture.unit}`);
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('width', left + width * SIZE + 2);
  svg.setAttribute('height', top + height * SIZE + 2);
  for (let x = 0; x < width; x++) drawn('text', svg, { class: 'axis', x: left + x * SIZE + 12, y: 13 }, x);
  for (let y = 0; y < height; y++) drawn('text', svg, { class: 'axis', x: 2, y: top + y * SIZE + 23 }, y);
  for (const tile of tiles) {
    const at = { x: left + tile.x * SIZE, y: top + tile.y * SIZE, width: SIZE - 2, height: SIZE - 2 };
    const text = describe(tile, span), value = measure(tile, what, span);
    const cell = drawn('rect', svg, { ...at, class: 'cell', tabindex: 0, role: 'img', 'aria-label': text });
    drawn('title', cell, {}, text);
    const tell = () => { $('board-tile').textContent = text; };
    cell.addEventListener('focus', tell);
    cell.addEventListener('mouseenter', tell);
    drawn('rect', svg, { ...at, class: 'heat', 'fill-opacity': value === 0 ? 0 : 0.15 + 0.85 * value / most });
    drawn('text', svg, { class: 'state', x: at.x + 2, y: at.y + 22 }, stateOf(tile, span).slice(0, 5));
    if (report.findings.some((f) => f.x === tile.x && f.y === tile.y && (f.chip || 0) === chip)) {
      drawn('rect', svg, { ...at, class: 'found' });
    }
  }
  $('board-grid').replaceChildren(svg);
}

function startBoard() {
  for (const chip of chips) element('option', $('board-chip'), chip);
  $('board-time').max = spans - 1;
  for (const id of ['board-what', 'board-chip', 'board-time']) $(id).addEventListener('input', board);
  if (picture.tiles.length > 0) board();
  else $('board-grid').textContent = 'No worker core has anything to show.';
}

// ---- coverage ----

function coverage() {
  const families = new Map();
  for (const rule of report.rules) {
    const family = rule.id.split('-')[0];
    if (!families.has(family)) families.set(family, []);
    families.get(family).push(rule);
  }
  const count = (rules, verdict) => rules.filter((r) => r.verdict === verdict).length;
  const verdicts = ['held', 'violated', 'waived', 'not-exercised', 'not-observable'];
  $('coverage-sum').textContent = verdicts.map((v) => `${count(report.rules, v)} ${v}`).join(', ');
  for (const [family, rules] of families) {
    const box = element('details', $('coverage-list'));
    element('summary', box, `${family}: ${verdicts.filter((v) => count(rules, v)).map((v) => `${count(rules, v)} ${v}`).join(', ')}`);
    const table = element('table', element('div', box));
    for (const rule of rules) {
      const row = element('tr', table);
      element('td', row, rule.id);
      element('td', row, rule.verdict, rule.verdict === 'violated' ? 'error' : '');
      element('td', row, rule.exercised ? `${rule.exercised} times` : '');
    }
  }
}

