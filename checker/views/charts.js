// SPDX-License-Identifier: Apache-2.0
// Counters over time, each with a scale of its own, drawn by uPlot; they show the timeline's time.
const CHART = 130;
const charts = [];

// Of all tiles together, by spans of the board's slider.
function boardCounters() {
  const sum = (what, s) => picture.tiles.reduce((all, t) => all + t[what][s], 0);
  const over = (name, value) => ({
    group: 'board', name, points: Array.from({ length: spans }, (_, s) => ({ t: s * picture.span, value: value(s) })),
  });
  return [
    over('worker cores in launches', (s) => sum('busy', s) / picture.span),
    over(`requests issued in ${picture.span} ${picture.unit}`, (s) => sum('requests', s)),
  ];
}

const number = (v) => (Number.isInteger(v) ? v.toLocaleString('en') : v.toFixed(1));

function axis(grid, size, space) {
  return {
    space, values: (u, at) => at.map(number),
    stroke: () => style('--dim'), grid: { show: grid, stroke: () => style('--line'), width: 1 },
    ticks: { show: !grid, stroke: () => style('--line'), width: 1, size: 4 },
    font: '11px system-ui, sans-serif', size, gap: 4,
  };
}

function addChart(row) {
  const values = row.points.map((p) => p.value), low = Math.min(...values), high = Math.max(...values);
  const box = element('figure', $('chart-list')), caption = element('figcaption', box);
  element('strong', caption, row.group ? `${row.group.replace(/:.*/, '')}: ${row.name}` : row.name);
  const said = element('span', caption), all = ` ${number(low)} to ${number(high)}`;
  said.textContent = all;
  const plot = element('div', box);
  plot.setAttribute('aria-hidden', 'true');
  const last = row.points[row.points.length - 1];
  const data = [[...row.points.map((p) => p.t), whole.to].map((t) => picture.first + t), [...values, last.value]];
  const tell = (u) => {
    const i = u.cursor.idx;
    said.textContent = i === null || i === undefined ? all : ` ${number(data[1][i])} at ${data[0][i]}`;
  };
  const select = (u) => {
    if (u.select.width < 8) return;
    view.from = Math.max(whole.from, u.posToVal(u.select.left, 'x') - picture.first);
    view.to = Math.min(whole.to, u.posToVal(u.select.left + u.select.width, 'x') - picture.first);
    u.setSelect({ width: 0, height: 0 }, false);
    draw();
  };
  charts.push(new uPlot({
    width: Math.max(200, plot.clientWidth), height: CHART, legend: { show: false },
    cursor: { sync: { key: 'time' }, y: false, points: { size: 6 }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: false }, y: { range: (u, a, b) => [a > 0.9 * b ? a : 0, b > a ? b : a + 1] } },
    axes: [axis(false, 24, 100), axis(true, 76, 30)],
    series: [{}, { stroke: () => style('--note'), width: 1.5, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }],
    hooks: { setCursor: [tell], setSelect: [select] },
  }, data, plot));
}

function showCharts() {
  for (const chart of charts) chart.setScale('x', { min: picture.first + view.from, max: picture.first + view.to });
}

function startCharts() {
  const rows = [...boardCounters(), ...counters].filter((row) => row.points.some((p) => p.value !== 0));
  rows.forEach(addChart);
  if (rows.length === 0) $('chart-list').textContent = 'No counter changes in this part.';
  addEventListener('resize', () => {
    for (const chart of charts) chart.setSize({ width: Math.max(200, chart.root.parentNode.clientWidth), height: CHART });
  });
  dark.addEventListener('change', () => { for (const chart of charts) chart.redraw(false); });
  showCharts();
}
