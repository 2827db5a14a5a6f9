// SPDX-License-Identifier: Apache-2.0
// Reads the page's data and draws it. What goes wrong is said on the page.

function show_failure(error) {
  const text = error && error.message ? error.message : String(error);
  document.getElementById('page').prepend(make('p', { class: 'failure', role: 'alert' },
    `This page could not be drawn: ${text}`));
}

try {
  Chart.defaults.font.family = kFont;
  Chart.defaults.font.size = kFontSize;
  const data = read_exact(document.getElementById('data').textContent);
  if (document.body.dataset.page === 'sweep') sweep_page(data);
  else report_page(data);
} catch (error) {
  show_failure(error);
  throw error;
}
