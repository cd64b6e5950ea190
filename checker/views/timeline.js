// SPDX-License-Identifier: Apache-2.0
// The timeline of the page: rows of slices and counters on a canvas.
const ROW = 18, TOP = 22;
let LABEL = 230;
const whole = { from: 0, to: Math.max(1, picture.last - picture.first) };
const view = { ...whole, row: 0, at: -1 };
const canvas = $('canvas');
let rows = [];

// FROM LENGTH NAME, FROM from the start of the one before.
function sliceRow(row) {
  const slices = [];
  for (let i = 0, t = 0; i < row.items.length; i += 3) {
    t += row.items[i];
    const code = row.items[i + 2], many = code % 2 === 1;
    const name = many ? `${(code - 1) / 2} slices` : picture.names[code / 2];
    slices.push({ from: t, to: t + row.items[i + 1], name, many });
  }
  return { group: row.group, name: row.name, slices };
}

function counterRow(row) {
  const points = [];
  for (let i = 0; i < row.items.length; i += 2) points.push({ t: row.items[i], value: row.items[i + 1] });
  return { group: row.group, name: row.name, points, most: Math.max(1, ...points.map((p) => p.value)) };
}

// Those that never were but 0 say nothing.
const counters = picture.counters.map(counterRow).filter((row) => row.points.some((p) => p.value !== 0));

// Groups of which there is more to show than one state first.
function allRows() {
  const every = [...picture.rows.map(sliceRow), ...counters];
  const busy = new Set(every.filter((r) => r.name !== 'go message').map((r) => r.group));
  const order = [...new Set(every.map((r) => r.group))].sort((a, b) => busy.has(b) - busy.has(a));
  return every.map((r, i) => [order.indexOf(r.group), i, r]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((r) => r[2]);
}

const everyRow = allRows();

function choose() {
  const wanted = $('rows').value.trim().toLowerCase();
  rows = everyRow.filter((r) => `${r.group} ${r.name}`.toLowerCase().includes(wanted));
  view.row = Math.min(view.row, Math.max(0, rows.length - 1));
  view.at = -1;
  draw();
}

function color(name) {
  let hash = 0;
  for (const c of name) hash = (hash * 31 + c.codePointAt(0)) >>> 0;
  return hash % 12 * 30;
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const pixel = (t) => LABEL + (t - view.from) / (view.to - view.from) * (canvas.clientWidth - LABEL);

function drawAxis(pen, width) {
  const span = view.to - view.from, ticks = Math.max(1, (width - LABEL) / 90);
  const step = [1, 2, 5, 10].map((n) => n * 10 ** Math.floor(Math.log10(span / ticks))).find((s) => s >= span / ticks);
  pen.fillStyle = style('--dim');
  const first = Math.ceil((picture.first + view.from) / step) * step - picture.first;
  for (let t = first; t <= view.to; t += step) {
    pen.fillRect(pixel(t), TOP - 6, 1, 6);
    if (pixel(t) < width - 60) pen.fillText(String(picture.first + t), pixel(t) + 3, 12);
  }
}

function drawSlices(pen, row, y, width) {
  for (const s of row.slices) {
    if (s.to < view.from || s.from > view.to) continue;
    const x0 = Math.max(LABEL, pixel(s.from)), x1 = Math.min(width, pixel(s.to)), w = Math.max(1, x1 - x0);
    pen.fillStyle = s.many ? style('--line') : `hsl(${color(s.name)} 45% ${dark.matches ? 38 : 80}%)`;
    pen.fillRect(x0, y + 2, w, ROW - 4);
    if (w < 24) continue;
    pen.save();
    pen.beginPath();
    pen.rect(x0, y, w - 3, ROW);
    pen.clip();
    pen.fillStyle = style('--ink');
    pen.fillText(s.name, x0 + 3, y + 13);
    pen.restore();
  }
}

function drawCounter(pen, row, y, width) {
  pen.fillStyle = style('--note');
  row.points.forEach((p, i) => {
    const to = i + 1 < row.points.length ? row.points[i + 1].t : whole.to;
    if (to < view.from || p.t > view.to) return;
    const x0 = Math.max(LABEL, pixel(p.t)), x1 = Math.min(width, pixel(to));
    const h = p.value / row.most * (ROW - 4);
    pen.fillRect(x0, y + ROW - 2 - h, Math.max(1, x1 - x0), Math.max(1, h));
  });
}

function drawFindings(pen, height) {
  pen.fillStyle = style('--error');
  for (const f of report.findings) {
    const t = f.t - picture.first;
    if (t >= view.from && t <= view.to) pen.fillRect(pixel(t), TOP - 8, 2, height);
  }
}

function draw() {
  const width = canvas.clientWidth;
  LABEL = Math.min(230, Math.floor(0.4 * width));
  showCharts();
  drawTimeline(width);
}

// Logical coordinates and the queue's name where there is room for them.
function labelOf(row, room) {
  const group = row.group.replace(/:.*/, ''), whole = group ? `${group}: ${row.name}` : row.name;
  return whole.length > room ? whole.replace(/ \(logical [^)]*\)|^command queue: /, '') : whole;
}

function drawTimeline(width) {
  const height = TOP + Math.max(1, rows.length) * ROW + 4, scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext('2d');
  pen.scale(scale, scale);
  pen.font = '11px system-ui, sans-serif';
  drawAxis(pen, width);
  rows.forEach((row, i) => {
    const y = TOP + i * ROW;
    if (i === view.row) {
      pen.fillStyle = style('--card');
      pen.fillRect(0, y, width, ROW);
    }
    pen.fillStyle = style(i === view.row ? '--ink' : '--dim');
    const room = Math.floor((LABEL - 8) / 5.8), label = labelOf(row, room);
    pen.fillText(label.length > room ? `${label.slice(0, room - 2)}..` : label, 4, y + 13);
    if (row.slices) drawSlices(pen, row, y, width);
    else drawCounter(pen, row, y, width);
  });
  drawFindings(pen, height);
}

function tell() {
  const row = rows[view.row];
  if (!row) return;
  const what = row.slices ? row.slices[view.at] : row.points[view.at];
  const label = row.group ? `${row.group}, ${row.name}` : row.name;
  if (!what) {
    $('slice').textContent = `${label}: ${row.slices ? plural(row.slices.length, 'slice') : plural(row.points.length, 'value')}`;
  } else if (row.slices) {
    $('slice').textContent = `${label}: ${what.name}, ${picture.first + what.from} to ${picture.first + what.to}, ${what.to - what.from} ${picture.unit}`;
  } else {
    $('slice').textContent = `${label}: ${what.value} from ${picture.first + what.t} on`;
  }
}

function zoom(factor) {
  const middle = (view.from + view.to) / 2, half = Math.max(4, (view.to - view.from) * factor / 2);
  view.from = Math.max(whole.from, middle - half);
  view.to = Math.min(whole.to, middle + half);
  draw();
}

function pan(part) {
  const span = view.to - view.from;
  view.from = Math.min(Math.max(whole.from, view.from + part * span), whole.to - span);
  view.to = view.from + span;
  draw();
}

// The next slice of the row comes into sight.
function step(by) {
  const row = rows[view.row], items = row && (row.slices || row.points);
  if (!items) return;
  view.at = Math.min(items.length - 1, Math.max(0, view.at + by));
  const from = items[view.at].from ?? items[view.at].t, span = view.to - view.from;
  if (from < view.from || from > view.to) {
    view.from = Math.max(whole.from, Math.min(from - span / 4, whole.to - span));
    view.to = view.from + span;
  }
}

function moveRow(by) {
  view.row = Math.min(rows.length - 1, Math.max(0, view.row + by));
  view.at = -1;
  const box = $('rows-box'), y = TOP + view.row * ROW;
  if (y < box.scrollTop || y + ROW > box.scrollTop + box.clientHeight) box.scrollTop = y - ROW;
}

const keys = {
  ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25), '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2),
  Home: () => { Object.assign(view, whole); }, ArrowUp: () => moveRow(-1), ArrowDown: () => moveRow(1),
  n: () => step(1), p: () => step(-1),
};

function startTimeline() {
  canvas.addEventListener('keydown', (e) => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    keys[e.key]();
    draw();
    tell();
  });
  canvas.addEventListener('mousemove', (e) => {
    const row = Math.floor((e.offsetY - TOP) / ROW);
    if (row < 0 || row >= rows.length || e.offsetX < LABEL) return;
    const t = view.from + (e.offsetX - LABEL) / (canvas.clientWidth - LABEL) * (view.to - view.from);
    const items = rows[row].slices || rows[row].points;
    view.row = row;
    view.at = items.findLastIndex((i) => (i.from ?? i.t) <= t && (i.to === undefined || i.to >= t));
    tell();
    draw();
  });
  for (const [id, key] of [['in', '+'], ['out', '-'], ['left', 'ArrowLeft'], ['right', 'ArrowRight'], ['all', 'Home']]) {
    $(id).addEventListener('click', () => { keys[key](); draw(); });
  }
  $('rows').addEventListener('input', choose);
  addEventListener('resize', draw);
  dark.addEventListener('change', draw);
  if (picture.left_out) $('slice').textContent = `${picture.left_out} slices after the end of the picture are left out.`;
  choose();
}

head();
findings();
waits();
startTimeline();
startCharts();
startBoard();
coverage();
