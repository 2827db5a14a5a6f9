// SPDX-License-Identifier: Apache-2.0
// Colours of plots. Series: Okabe and Ito's, which colour-blind people tell apart, darker or
// lighter where the background asks for it.

const kThemes = {
  light: {
    text: '#1b1f24', muted: '#57606a', grid: '#dde1e6', back: '#ffffff', others: '#9aa1a9',
    series: ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#6a4c93', '#8a8d0f'],
    heat: ['#d6e6f4', '#a9cde6', '#6fb0d7', '#3d8dc3', '#1764ab', '#08306b'],
    memory: { allocated: '#0072b2', pinned: '#d55e00', moved: '#e69f00', reserved: '#6b727a', free: '#e8ebee' },
  },
  dark: {
    text: '#e6e8eb', muted: '#a3abb4', grid: '#343a42', back: '#15181c', others: '#6c747d',
    series: ['#4aa3df', '#f0b429', '#2bc4a0', '#e39ac4', '#a5daf9', '#ff8552', '#b79ae0', '#c9cd5a'],
    heat: ['#16324a', '#1b4d73', '#216fa3', '#3f97cd', '#86c5ea', '#dff1fb'],
    memory: { allocated: '#4aa3df', pinned: '#ff8552', moved: '#f0b429', reserved: '#8d959e', free: '#272c33' },
  },
};

const kDark = window.matchMedia('(prefers-color-scheme: dark)');
let printing = false;

function theme() {
  return kDark.matches && !printing ? kThemes.dark : kThemes.light;
}

function series_colour(index) {
  const colours = theme().series;
  return index < colours.length ? colours[index] : theme().others;
}

// Told apart without colour, too.
const kMostLegends = 10;
const kMostRows = 150;
const kPoints = ['circle', 'rect', 'triangle', 'rectRot', 'crossRot', 'star', 'rectRounded', 'cross'];
const kDashes = [[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4], [1, 3], [10, 2, 2, 2]];

// The first `most` of what is sorted by size, and the rest.
function split_top(sorted, most) {
  const keep = sorted.length <= most + 1 ? sorted.length : most;
  return [sorted.slice(0, keep), sorted.slice(keep)];
}
