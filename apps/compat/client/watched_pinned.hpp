// SPDX-License-Identifier: Apache-2.0
// Pinned memory while asynchronous copies of it are in flight, for `npusim exec --races`: the
// program has no right to what a card writes, and may not write what a card reads. A load or store
// there is told to npusim, which knows whether the copy is over for the program, and goes on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "apps/compat/client/channel.hpp"
#include "apps/compat/client/pinned.hpp"
#include "apps/compat/protocol/calls.hpp"

namespace npu::compat {

bool races_are_looked_for();

// A copy of `count` bytes from `place` on is in flight, `begin` as the program knows it; `writes`:
// the card writes them. Pages that have other bytes, too, are not watched.
void watch_copy(const void* begin, std::size_t count, const PinnedPlace& place, bool writes,
                std::uint64_t stream);
// The program accesses some of these bytes. Whether they were watched; they are not any more.
bool touch_watched(const void* begin, std::size_t count, bool write);
// A call of the thread has returned with success and this answer. Asks about what is watched if the
// program may have waited for it: the channel's words are another answer's then.
void returned_from(Channel& channel, Call call, const Words& words, const Words& answer);
// The memory is about to be something else; or a child is made.
void watch_nothing();

}  // namespace npu::compat
