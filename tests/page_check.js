// SPDX-License-Identifier: Apache-2.0
// Appended to a page of `nocap export --to html`: presses keys as a reader without a mouse does,
// and says in the page what obeyed, and whether the board shows go messages.
const obeyed = [];
const press = (at, key) => at.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));

const slider = $('board-time'), board_before = $('board-grid').innerHTML;
slider.focus();
slider.stepUp(20);
slider.dispatchEvent(new Event('input'));
if (document.activeElement === slider && $('board-grid').innerHTML !== board_before &&
    $('board-span').textContent.includes(' to ')) obeyed.push('slider');

if (picture.tiles.some((tile) => describe(tile, -1).includes('go message '))) obeyed.push('states');

canvas.focus();
const row_before = view.row;
press(canvas, 'ArrowDown');
if (document.activeElement === canvas && view.row === row_before + 1) obeyed.push('rows');
const said_before = $('slice').textContent;
press(canvas, 'n');
if (view.at === 0 && $('slice').textContent !== said_before) obeyed.push('slices');
const length_before = view.to - view.from;
press(canvas, '+');
if (view.to - view.from < length_before) obeyed.push('zoom');
setTimeout(() => { // uPlot draws behind what asked for it
  if (charts.length > 0 && charts.every((c) => c.scales.x.min === picture.first + view.from &&
      c.scales.x.max === picture.first + view.to)) obeyed.push('charts');
  const result = document.createElement('p');
  result.textContent = `keys: ${obeyed.join(', ')}`;
  document.body.append(result);
}, 0);
