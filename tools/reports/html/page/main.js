// SPDX-License-Identifier: Apache-2.0
// Reads the page's data and draws it. What goes wrong is said on the page and on the console.

function show_failure(what, error) {
  document.getElementById('page').append(make('p', { class: 'failure', role: 'alert' },
    `${what} could not be drawn: ${error.message}`));
  console.error(error);
}

// Section by section: one that cannot be drawn leaves the others.
function add_all(data, sections) {
  for (const add of sections) {
    try {
      add(data);
    } catch (error) {
      show_failure('This part of the page', error);
    }
  }
}

try {
  Chart.defaults.font.family = kFont;
  Chart.defaults.font.size = kFontSize;
  const data = read_exact(document.getElementById('data').textContent);
  if (document.body.dataset.page === 'sweep') sweep_page(data);
  else report_page(data);
} catch (error) {
  show_failure('This page', error);
}
