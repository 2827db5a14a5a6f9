// SPDX-License-Identifier: Apache-2.0
// Recognisable bytes in blocks of device memory: a window of a pattern at the start of every 2 MiB
// page, written and compared by DMA. A window of a whole page covers every byte.
#pragma once

#include <memory>

#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {

ParameterSpec window_parameter();  // "window": bytes of every page that are written and compared

class BlockContents {
 public:
  // `window`: at most a page. Copies go through host memory of the object's own, on `stream`.
  static Result<BlockContents> make(Context& context, driver::Device& device,
                                    driver::StreamId stream, Bytes window);

  // [address, address + size) in whole pages; the bytes are a function of `tag` and the offset.
  Status write(driver::DeviceAddress address, Bytes size, std::uint64_t tag);
  // kWrongData naming the first byte that is not as written.
  Status check(driver::DeviceAddress address, Bytes size, std::uint64_t tag);

 private:
  BlockContents(Context& context, driver::Device& device, driver::StreamId stream, Bytes window,
                std::unique_ptr<platform::DmaMemory> staging)
      : context_(&context),
        device_(&device),
        stream_(stream),
        window_(window),
        staging_(std::move(staging)) {}

  Status copy_windows(driver::DeviceAddress address, Bytes first, Bytes end, bool to_device);
  Bytes batch() const { return staging_->size() / 2 / window_; }  // pages at a time

  Context* context_;
  driver::Device* device_;
  driver::StreamId stream_;
  Bytes window_;
  std::unique_ptr<platform::DmaMemory> staging_;  // one half travels, the other is expected
};

}  // namespace npu::workloads
