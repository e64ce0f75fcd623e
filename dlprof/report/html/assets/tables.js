// Tables that sort and filter: what the page says of rows stays as it was made, only order and sight change.

const FEW_TO_SORT = 3, FEW_TO_FILTER = 12;  // rows up to which a table needs neither

/** What a cell is sorted by: its figure where it has one, else its text; null: it has none. */
function cellKey(cell) {
  if (!cell) return null;
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  const text = cell.textContent.trim();
  if (!text || text === '–') return null;
  if (!cell.classList.contains('number')) return text.toLowerCase();
  const number = Number(text.replaceAll(',', ''));
  return Number.isNaN(number) ? text.toLowerCase() : number;
}

/** Rows in the order of a column; those without a figure come last, whatever the direction. */
function sortRows(body, column, direction) {
  const rows = [...body.rows].map((row, at) => ({row, at, key: cellKey(row.cells[column])}));
  const order = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === 'number' ? -1 : 1);
  rows.sort((a, b) => {
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.at - b.at;
    return direction * order(a.key, b.key) || a.at - b.at;
  });
  body.append(...rows.map(one => one.row));
}

/** A button in each heading: figures begin with the largest, words with the first letter. */
function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.classList.contains('meters')) return;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'sort';
    button.append(...head.childNodes);
    head.append(button);
    button.onclick = () => {
      const before = head.getAttribute('aria-sort');
      const falls = before ? before === 'ascending' : head.classList.contains('number');
      heads.forEach(one => one.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', falls ? 'descending' : 'ascending');
      sortRows(table.tBodies[0], column, falls ? -1 : 1);
    };
  });
}

/** An input above the table: rows without its words are hidden, and counted. */
function makeFilter(table) {
  const place = table.closest('.wide') || table, rows = [...table.tBodies[0].rows];
  const tools = document.createElement('div'), label = document.createElement('label');
  const input = document.createElement('input'), told = document.createElement('span');
  tools.className = 'tools filter';
  input.type = 'search';
  input.spellcheck = false;
  told.setAttribute('role', 'status');
  label.append('Filter ', input);
  tools.append(label, told);
  place.before(tools);
  const texts = rows.map(row => row.textContent.toLowerCase());
  input.oninput = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, at) => {
      row.hidden = !words.every(word => texts[at].includes(word));
      if (!row.hidden) shown++;
    });
    told.textContent = words.length ? `${shown} of ${rows.length} rows` : '';
  };
}

function makeTables() {
  for (const table of document.querySelectorAll('table.sorts')) {
    if (!table.tHead || !table.tBodies.length) continue;
    const count = table.tBodies[0].rows.length;
    if (count > FEW_TO_SORT) makeSortable(table);
    if (count > FEW_TO_FILTER) makeFilter(table);
  }
}

/** Lines of source that take little are folded: a row says how many, and shows them. */
function makeFolds() {
  for (const button of document.querySelectorAll('.fold button')) button.onclick = () => unfold(button.closest('tbody'));
}

/** Show the lines that a row stands for. */
function unfold(fold) {
  const body = fold.nextElementSibling;
  body.classList.remove('folded');
  fold.remove();
}
