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

function make_row(row, numeric, marked) {
  const cells = row.map((value, column) => {
    const kind = numeric[column] ? { class: 'number' } : {};
    const cell = make(column === 0 ? 'th' : 'td', column === 0 ? { scope: 'row', ...kind } : kind);
    cell.append(cell_text(value));
    return cell;
  });
  return make('tr', marked ? { class: 'changed' } : {}, ...cells);
}

// A table whose rows can be set anew. Long ones begin with their first rows; a button gives the
// rest. `mark` tells which rows stand out.
class RowTable {
  constructor(caption, columns, rows, mark = () => false) {
    this.numeric = columns.map((_, column) => is_numeric_column(rows, column));
    this.mark = mark;
    this.body = make('tbody');
    this.more = make('button', { type: 'button' });
    this.more.addEventListener('click', () => this.fill(kFirstRows, this.rows.length));
    const heads = columns.map((title, column) =>
      make('th', { scope: 'col', ...(this.numeric[column] ? { class: 'number' } : {}) }, title));
    const table = make('table', {}, make('caption', {}, caption),
      make('thead', {}, make('tr', {}, ...heads)), this.body);
    this.element = make('div', {},
      make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption || 'table' }, table), this.more);
    this.show(rows);
  }

  show(rows) {
    this.rows = rows;
    this.body.replaceChildren();
    this.fill(0, Math.min(kFirstRows, rows.length));
  }

  fill(from, to) {
    this.body.append(...this.rows.slice(from, to).map((row) => make_row(row, this.numeric, this.mark(row))));
    this.more.hidden = to === this.rows.length;
    this.more.textContent = `Show all ${this.rows.length} rows`;
  }
}

// A table of which a field keeps the rows with all of its words.
function add_filtered_table(section, caption, columns, rows, mark) {
  const id = unique_id('search');
  const field = make('input', { id, type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const found = make('span', { role: 'status', class: 'found' });
  const label = make('label', { for: id }, `Search ${caption.toLowerCase()}`);
  const table = new RowTable(caption, columns, rows, mark);
  section.append(make('p', { class: 'menu' }, label, ' ', field, ' ', found), table.element);
  field.addEventListener('input', () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
    const kept = rows.filter((row) => {
      const text = row.map(cell_text).join(' ').toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
    table.show(kept);
    found.textContent = wanted.length === 0 ? '' : `${kept.length} of ${rows.length}`;
  });
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
    holder.append(new RowTable(table.caption, table.columns, rows).element);
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
