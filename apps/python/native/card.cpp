// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/card.hpp"

#include <fmt/format.h>

namespace npu::python {
namespace py = pybind11;

using driver::DeviceAddress;
using driver::DeviceContext;

namespace {

// 'O' in the format of a buffer, beside the names of a structure's parts, which stand between
// colons.
bool has_references(const char* format) {
  bool in_name = false;
  for (const char* at = format; at != nullptr && *at != '\0'; ++at) {
    if (*at == ':') in_name = !in_name;
    if (*at == 'O' && !in_name) return true;
  }
  return false;
}

}  // namespace

py::buffer_info bytes_of(const py::buffer& object, bool writable) {
  auto view = std::make_unique<Py_buffer>();
  const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), view.get(), flags) != 0) throw py::error_already_set();
  if (has_references(view->format)) {
    PyBuffer_Release(view.get());
    throw py::value_error("the buffer holds references to objects");
  }
  return py::buffer_info(view.release());
}

namespace {

ConstByteSpan span_of(const py::buffer_info& info) {
  return {static_cast<const std::byte*>(info.ptr),
          static_cast<std::size_t>(info.size * info.itemsize)};
}

}  // namespace

std::shared_ptr<Card> Card::open(std::shared_ptr<Session> session, unsigned index) {
  session->take_card(index);
  std::shared_ptr<Card> card(new Card(std::move(session), index));
  card->session_->call([&](platform::Platform& host) {
    auto context = DeviceContext::create(host, card->session_->addresses());
    if (!context) throw Failure(context.error());
    check((*context)->set_device(index));
    card->context_ = std::move(*context);
  });
  return card;
}

Card::~Card() {
  session_->leave_card(index_);
  if (auto* const context = context_.release()) {
    session_->end_later([context] { delete context; });
  }
}

void Card::close() {
  if (context_ == nullptr) return;
  if (session_->ended()) {
    static_cast<void>(context_.release());  // its tasks stay where they are
    return session_->leave_card(index_);
  }
  if (host_memories_ > 0) {
    raise(ErrorCode::kBusy,
          fmt::format("{} pieces of host memory of card {} are in use", host_memories_, index_));
  }
  const Status ended = with([](DeviceContext& all) { return all.finalize(); });
  auto* const context = context_.release();
  session_->end_later([context] { delete context; });
  session_->leave_card(index_);
  check(ended);
}

DeviceContext& Card::context() {
  if (context_ == nullptr) throw std::runtime_error("the device is closed");
  return *context_;
}

py::dict Card::info() {
  const auto& card = device().info();
  py::dict all;
  all["bdf"] = platform::to_string(card.bdf());
  all["vendor_id"] = card.function.vendor_id;
  all["device_id"] = card.function.device_id;
  all["index"] = card.device_index;
  all["numa_node"] = card.numa_node();
  all["ai_cores"] = card.ai_cores;
  all["clusters"] = context().clusters();
  all["vector_cores_per_cluster"] = context().vector_cores();
  all["memory_bytes"] = card.hbm_size;
  all["streams"] = card.stream_count;
  all["events"] = card.event_count;
  const auto memory =
      with([](DeviceContext& opened) { return opened.device().memory_statistics(); });
  all["memory_free_bytes"] = memory.free;
  all["largest_free_block_bytes"] = memory.largest_free_block;
  all["allocations"] = memory.allocations;
  return all;
}

std::uint64_t Card::allocate(Bytes size) {
  return value_of(with([=](DeviceContext& all) { return all.allocate(size); })).value;
}

void Card::free(std::uint64_t address) {
  check(with([=](DeviceContext& all) { return all.free(DeviceAddress{address}); }));
}

void Card::write(std::uint64_t address, const py::buffer& from) {
  const auto info = bytes_of(from);
  check(with([&](DeviceContext& all) {
    return all.copy_to_device(DeviceAddress{address}, span_of(info));
  }));
}

void Card::read(const py::buffer& to, std::uint64_t address) {
  const auto info = bytes_of(to, true);
  const ByteSpan out{static_cast<std::byte*>(info.ptr),
                     static_cast<std::size_t>(info.size * info.itemsize)};
  check(
      with([&](DeviceContext& all) { return all.copy_from_device(out, DeviceAddress{address}); }));
}

void Card::set_firmware(const py::buffer& scheduler, const py::buffer& executor) {
  const auto first = bytes_of(scheduler);
  const auto second = bytes_of(executor);
  check(
      with([&](DeviceContext& all) { return all.set_firmware(span_of(first), span_of(second)); }));
}

void Card::register_kernel(std::uint32_t id, const py::buffer& object) {
  const auto info = bytes_of(object);
  check(with([&](DeviceContext& all) { return all.register_kernel({id}, span_of(info)); }));
}

void Card::unregister_kernel(std::uint32_t id) {
  check(with([=](DeviceContext& all) { return all.unregister_kernel({id}); }));
}

}  // namespace npu::python
