// SPDX-License-Identifier: Apache-2.0
// Eventfds that the client sent.
#pragma once

namespace npu::model::vfio_user {

// True if `fd` is an eventfd; makes it non-blocking then. Anything else is refused: writing to a
// pipe may raise SIGPIPE, and a counter that the client filled up would hold up the model. The flag
// is shared with the client's descriptor.
bool prepare_eventfd(int fd);

// Adds 1 to the counter. A counter at its end stays there: the client has not looked for long.
void signal_eventfd(int fd);

}  // namespace npu::model::vfio_user
