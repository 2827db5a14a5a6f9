// SPDX-License-Identifier: Apache-2.0
// Tables of the JSON's own texts.

const kFirstRows = 500;
const kPaperColumns = 14;

function cell_text(value) {
  return value === null || value === undefined ? '' : String(value);
}

function is_numeric_column(rows, column) {
  let any = false;
  for (const row of rows) {
    const text = cell_text(row[column]);
    if (text === '') continue;
    if (!is_number(text)) return false;
    any = true;
  }
  return any;
}

function make_row(row, numeric) {
  const cells = row.map((value, column) => {
    const kind = numeric[column] ? { class: 'number' } : {};
    const cell = make(column === 0 ? 'th' : 'td', column === 0 ? { scope: 'row', ...kind } : kind);
    cell.append(value instanceof Node ? value : cell_text(value));
    return cell;
  });
  return make('tr', {}, ...cells);
}

// Long tables begin with their first rows; a button gives the rest.
function make_table(caption, columns, rows) {
  const numeric = columns.map((_, column) => is_numeric_column(rows, column));
  const heads = columns.map((title, column) =>
    make('th', { scope: 'col', ...(numeric[column] ? { class: 'number' } : {}) }, title));
  const body = make('tbody');
  const fill = (from, to) => body.append(...rows.slice(from, to).map((row) => make_row(row, numeric)));
  fill(0, kFirstRows);
  const table = make('table', {}, make('caption', {}, caption),
    make('thead', {}, make('tr', {}, ...heads)), body);
  const box = make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    table);
  if (rows.length <= kFirstRows) return box;
  const more = make('button', { type: 'button' }, `Show all ${rows.length} rows`);
  more.addEventListener('click', () => {
    fill(kFirstRows, rows.length);
    more.remove();
  });
  return make('div', {}, box, more);
}

// A collapsed table, made when it is opened. `table`: {caption, columns, rows}; rows may be a
// function, then `count` says how many it gives. What is too large for paper is told there instead.
function add_table(parent, table) {
  const count = table.count === undefined ? table.rows.length : table.count;
  const large = table.columns.length > kPaperColumns || count > kFirstRows;
  const summary = make('summary', {}, `Table: ${table.caption}`);
  const holder = make('details', { class: large ? 'table large' : 'table' }, summary);
  if (large) {
    summary.append(make('span', { class: 'paper' },
      ` (${count} rows of ${table.columns.length} columns: too large for paper, see the page)`));
  }
  holder.fill = () => {
    if (holder.filled) return;
    holder.filled = true;
    const rows = typeof table.rows === 'function' ? table.rows() : table.rows;
    holder.append(make_table(table.caption, table.columns, rows));
  };
  holder.addEventListener('toggle', () => holder.open && holder.fill());
  parent.append(holder);
  return holder;
}

function csv_text(columns, rows) {
  const field = (value) => {
    const text = cell_text(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(field).join(',')).join('\n') + '\n';
}
