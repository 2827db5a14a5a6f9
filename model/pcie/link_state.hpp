// SPDX-License-Identifier: Apache-2.0
// What the port at an end of a link knows of it.
#pragma once

namespace npu::model {

struct LinkState {
  bool active = true;
  unsigned transitions = 0;  // how often the link has gone up or down
  unsigned generation = 0;   // as trained
  unsigned lanes = 0;
  unsigned bad_tlps = 0;  // that arrived at this end, and were asked for again
};

}  // namespace npu::model
