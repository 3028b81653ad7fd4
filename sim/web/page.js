// Sorts, filters and pages the table of scenarios. Everything it shows is put in as
// text, never as markup.
'use strict';
(function () {
const data = JSON.parse(document.getElementById('cases').textContent);
const table = document.getElementById('scenario-table');
const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
const controls = document.getElementById('controls');
const pager = document.getElementById('pager');
const names = [data.scenarios, data.families, data.platforms, data.clocks,
  data.planners];
const SOLVED = 11, ALL = 12, TIES = 13, SECTION = 14, FAULTS = 15, PAGE = 50;
let shown = data.rows.map((r, i) => i), page = 0, column = 7, up = false;
const search = data.rows.map(r => (data.scenarios[r[0]] + ' ' +
  data.families[r[1]]).toLowerCase());

function element(tag, text, parent) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.append(e);
  return e;
}

// Figures are printed as units_print_time(), units_print_bytes() and words_ratio() of the
// program do: four digits, an exact half to the even one as in printf().
function four(x) {
  const e = x > 0 ? 10 ** (3 - Math.floor(Math.log10(x))) : 1;
  const n = Math.round(x * e);
  return (n - x * e === 0.5 && n % 2 ? n - 1 : n) / e;
}
function scaled(x, units, step) {
  let i = 0;
  while (i + 1 < units.length && x >= step) { x /= step; i++; }
  return four(x) + ' ' + units[i];
}
function figure(x, unit) {
  if (x === null) return '-';
  if (unit === 's') return scaled(x * 1e6, ['us', 'ms', 's'], 1000);
  if (unit === 'B') return scaled(x, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024);
  if (unit === '%') return (100 * x).toFixed(1) + ' %';
  return x !== 0 && x < 0.01 ? x.toExponential(2) :
    x.toFixed(x < 99.9995 ? 3 : x < 9999.95 ? 1 : 0);
}

function cells(r) {
  const tr = element('tr');
  for (let c = 0; c < heads.length; c++) {
    const td = element('td', undefined, tr);
    if (c === 0 && r[SECTION]) {
      element('a', names[0][r[0]], td).href = '#s' + r[SECTION];
    } else if (c < 5) {
      td.textContent = r[c] < 0 ? '-' : names[c][r[c]];
      if (c === 4 && r[TIES]) {
        td.append(' ');
        element('small', '+' + r[TIES], td);
      }
    } else {
      td.className = 'r';
      td.textContent = c === SOLVED ? r[SOLVED] + '/' + r[ALL] :
        figure(r[c], heads[c].dataset.unit);
    }
  }
  return tr;
}

function show() {
  const pages = Math.max(1, Math.ceil(shown.length / PAGE));
  page = Math.min(Math.max(page, 0), pages - 1);
  const part = shown.slice(page * PAGE, (page + 1) * PAGE);
  body.replaceChildren(...part.map(i => cells(data.rows[i])));
  back.disabled = page === 0;
  next.disabled = page === pages - 1;
  place.textContent = shown.length === 0 ? 'nothing matches' :
    (page * PAGE + 1) + ' to ' + (page * PAGE + part.length) + ' of ' +
    shown.length + (shown.length < data.rows.length ?
      ' (' + data.rows.length + ' in all)' : '');
}

// Sorts what is shown: what is not known comes last either way, and equal ones keep
// their order.
function sort() {
  const sign = up ? 1 : -1;
  shown.sort((a, b) => {
    const x = data.rows[a][column], y = data.rows[b][column];
    const none = v => v === null || (column === 4 && v < 0);
    if (none(x) || none(y)) return none(x) - none(y) || a - b;
    return sign * (x - y) || a - b;
  });
  heads.forEach((h, c) => h.setAttribute('aria-sort',
    c !== column ? 'none' : up ? 'ascending' : 'descending'));
}

function filter() {
  const words = text.value.toLowerCase().split(/\s+/).filter(w => w);
  shown = [];
  data.rows.forEach((r, i) => {
    if (words.every(w => search[i].includes(w)) &&
        choices.every(s => s.value === '' || r[s.column] === +s.value) &&
        (state.value === '' ||
         (state.value === 'compared' && r[7] !== null) ||
         (state.value === 'slower' && r[7] !== null && r[7] <= 1) ||
         (state.value === 'unsolved' && r[SOLVED] === 0) ||
         (state.value === 'partly' && r[SOLVED] > 0 && r[SOLVED] < r[ALL]) ||
         (state.value === 'faults' && r[FAULTS])))
      shown.push(i);
  });
  page = 0;
  sort();
  show();
}

function choice(label, options, parent) {
  const l = element('label', label + ' ', parent), s = element('select',
    undefined, l);
  for (const [value, name] of options) element('option', name, s).value = value;
  s.name = label;
  s.addEventListener('change', filter);
  return s;
}

const label = element('label', 'search ', controls);
const text = element('input', undefined, label);
text.type = 'search';
text.name = 'search';
text.placeholder = 'scenario or family';
text.addEventListener('input', filter);
const choices = [[1, 'family'], [2, 'platform'], [3, 'clock'], [4, 'fastest']]
  .filter(([c]) => names[c].length > 1).map(([c, name]) => {
    const s = choice(name, [['', 'all'], ...names[c].map((n, i) => [i, n])],
      controls);
    s.column = c;
    return s;
  });
const state = choice('rows', [['', 'all'], ['compared', 'with a speedup'],
  ['slower', 'no planner faster'], ['partly', 'not solved by all'],
  ['unsolved', 'not solved'], ['faults', 'failed or wrong']], controls);
const back = element('button', 'previous', pager);
const place = element('span', '', pager);
const next = element('button', 'next', pager);
place.setAttribute('role', 'status');
back.addEventListener('click', () => { page--; show(); });
next.addEventListener('click', () => { page++; show(); });
heads.forEach((h, c) => {
  const b = element('button', h.textContent);
  h.replaceChildren(b);
  b.addEventListener('click', () => {
    up = column === c ? !up : c < 5;
    column = c;
    page = 0;
    sort();
    show();
  });
});
controls.hidden = pager.hidden = false;
filter();
})();
