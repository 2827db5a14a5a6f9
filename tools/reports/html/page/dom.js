// SPDX-License-Identifier: Apache-2.0
// Elements. Text goes in as text nodes alone, styles through properties (the page's policy allows
// no attributes of that kind).

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A section with its heading, in the page and in its list of contents.
function add_section(id, title) {
  const heading = make('h2', { id: `${id}-title` }, title);
  const section = make('section', { id, 'aria-labelledby': `${id}-title` }, heading);
  document.getElementById('page').append(section);
  const link = make('a', { href: `#${id}` }, title);
  document.getElementById('contents').append(make('li', {}, link));
  return section;
}

// What stands in a section whose data the report lacks.
function add_absent(section, text) {
  section.append(make('p', { class: 'absent' }, text));
  document.querySelector(`#contents a[href="#${section.id}"]`).classList.add('absent');
}

function add_text(parent, text, kind = 'note') {
  parent.append(make('p', { class: kind }, text));
}

// [term, description] pairs; a description is text or an element.
function add_facts(parent, facts) {
  const list = make('dl', { class: 'facts' });
  for (const [term, description] of facts) {
    list.append(make('div', {}, make('dt', {}, term), make('dd', {}, description)));
  }
  parent.append(list);
}

let next_id = 0;

function unique_id(prefix) {
  next_id += 1;
  return `${prefix}-${next_id}`;
}

// A labelled menu; `options` are texts, `choose` gets the index of the one chosen.
function add_menu(parent, label, options, choose) {
  const id = unique_id('menu');
  const menu = make('select', { id });
  options.forEach((text, index) => menu.append(make('option', { value: index }, text)));
  menu.addEventListener('change', () => choose(Number(menu.value)));
  parent.append(make('p', { class: 'menu' }, make('label', { for: id }, label), ' ', menu));
  return menu;
}

// A file for the reader to keep, without any network.
function download(name, kind, text) {
  const url = URL.createObjectURL(new Blob([text], { type: kind }));
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
