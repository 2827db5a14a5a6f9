// SPDX-License-Identifier: Apache-2.0
// Binaries, functions and launches.
#include <fmt/format.h>

#include <cstring>

#include "exec/acl/handlers.hpp"
#include "npu/abi/kernel_note.hpp"
#include "npu/driver/program.hpp"

namespace npu::exec::acl {
namespace {

constexpr std::uint64_t kNoCores = UINT64_MAX;  // nobody has said which
constexpr std::uint32_t kMostBlocks = 65535;

// aclrtPlaceHolderInfo
struct Place {
  std::uint32_t address_offset, data_offset;
};

// The name a kernel's note gives (abi/kernel_note.hpp); empty: there is no such note.
std::string name_in(const std::vector<std::byte>& object) {
  abi::KernelNote wanted;
  std::memcpy(wanted.owner, abi::kKernelNoteOwner, sizeof wanted.owner);
  constexpr std::size_t kHead = offsetof(abi::KernelNote, words);
  for (std::size_t at = 0; at + sizeof wanted <= object.size(); at += 4) {
    if (std::memcmp(object.data() + at, &wanted, kHead) != 0) continue;
    abi::KernelNote note;
    std::memcpy(&note, object.data() + at, sizeof note);
    return std::string(note.name, ::strnlen(note.name, sizeof note.name));
  }
  return {};
}

// aclrtEngineType: cube 0, vector 1.
Cores cores_of(std::uint64_t type) {
  return type == 0 ? Cores::kCube : Cores::kVector;
}

struct Launch {
  Function& function;
  Cores cores;
  std::uint32_t blocks;
  std::uint32_t argument_bytes = 0;
};

Outcome fill_in_places(ByteSpan arguments, driver::DeviceAddress device, ConstByteSpan places) {
  for (std::size_t at = 0; at + sizeof(Place) <= places.size; at += sizeof(Place)) {
    Place place{};
    std::memcpy(&place, places.data + at, sizeof place);
    if (place.address_offset + sizeof(std::uint64_t) > arguments.size ||
        place.data_offset > arguments.size) {
      return fault(kInvalidParameter, "a place holder outside of the arguments");
    }
    const std::uint64_t address = device.value + place.data_offset;
    std::memcpy(arguments.data + place.address_offset, &address, sizeof address);
  }
  return {};
}

// The kernel's arguments into `to`.
Outcome put_arguments(const CallRecord& call, const ArgumentSlots::Slot& slot, Launch& launch) {
  const Bytes size = call.words[4];
  const ConstByteSpan given{call.window.data, size};
  if (launch.function.built_in != nullptr) {
    const auto words =
        launch.function.built_in->words(*launch.function.built_in, given, &launch.blocks);
    if (!words) return fault(words.error());
    launch.argument_bytes = static_cast<std::uint32_t>(words->size() * sizeof(std::uint64_t));
    std::memcpy(slot.bytes.data, words->data(), launch.argument_bytes);
    return {};
  }
  std::memcpy(slot.bytes.data, given.data, size);
  launch.argument_bytes = static_cast<std::uint32_t>(size);
  return fill_in_places(slot.bytes.subspan(0, size), slot.device,
                        {call.window.data + size, call.words[5] * sizeof(Place)});
}

Value<driver::DeviceAddress> image_of(Caller& caller, ProcessCard& card, const Function& function) {
  if (function.built_in == nullptr) {
    const auto& object = function.binary->object;
    return card.image(function.key, {object.data(), object.size()}, &caller);
  }
  const auto object = caller.process().machine().images(function.built_in->image);
  if (!object) return fault(object.error());
  return card.image(function.key, *object, &caller);
}

Value<Launch> launch_of(Caller& caller, const CallRecord& call) {
  const auto function = caller.process().functions.find(call.words[0]);
  if (function == nullptr) return fault(kInvalidHandle, "it is no function");
  if (call.words[1] > kMostBlocks) {
    return fault(kRuntimeParameter,
                 fmt::format("{} blocks, at most {}", call.words[1], kMostBlocks));
  }
  const Bytes places = call.words[5] * sizeof(Place);
  if (call.words[4] > abi::kMaxArgumentBytes || call.words[5] > compat::kWindow / sizeof(Place) ||
      call.words[4] + places > call.bytes) {
    return fault(kRuntimeParameter, fmt::format("{} bytes of arguments, at most {}", call.words[4],
                                                abi::kMaxArgumentBytes));
  }
  std::uint64_t cores = call.words[3];
  const auto* const built_in = function->built_in;
  if (built_in != nullptr && !(built_in->any_cores && cores != kNoCores)) {
    cores = built_in->on_cube ? 0 : 1;
  } else if (cores == kNoCores) {
    cores = function->binary->cores;
  }
  return Launch{*function, cores_of(cores), static_cast<std::uint32_t>(call.words[1]), 0};
}

}  // namespace

// Words: built-in, bytes, cores.
Outcome load_binary(Caller& caller, CallRecord& call) {
  auto binary = std::make_shared<Binary>();
  binary->built_in = call.words[0] != 0;
  binary->cores = call.words[2];
  if (!binary->built_in) {
    const Bytes size = std::min(call.words[1], call.bytes);
    binary->object.assign(call.window.data, call.window.data + size);
    const auto image = driver::make_image(abi::ImageKind::kAiCore, {binary->object.data(), size});
    if (!image) return fault(image.error());
    constexpr char kElf[] = {0x7F, 'E', 'L', 'F'};
    if (size < sizeof kElf || std::memcmp(binary->object.data(), kElf, sizeof kElf) != 0) {
      return fault(kRuntimeParameter, "it is no shared object");
    }
    binary->name = name_in(binary->object);
  }
  call.words[0] = caller.process().binaries.add(std::move(binary));
  return {};
}

Outcome unload_binary(Caller& caller, CallRecord& call) {
  if (caller.process().binaries.find(call.words[0]) == nullptr) {
    return fault(kInvalidHandle, "it is no binary");
  }
  caller.process().binaries.remove(call.words[0]);
  return {};
}

Outcome get_function(Caller& caller, CallRecord& call) {
  const auto binary = caller.process().binaries.find(call.words[0]);
  if (binary == nullptr) return fault(kInvalidHandle, "it is no binary");
  const std::string name(reinterpret_cast<const char*>(call.window.data),
                         std::min(call.words[1], call.bytes));
  auto function = std::make_shared<Function>();
  function->binary = binary;
  if (binary->built_in) {
    function->built_in = find_built_in(name);
    if (function->built_in == nullptr) return fault(kRuntimeParameter, "no kernel " + name);
    function->key = "built-in " + std::string(function->built_in->image);
  } else {
    if (!binary->name.empty() && binary->name != name) {
      return fault(kRuntimeParameter, "no kernel " + name + ", the binary has " + binary->name);
    }
    function->key = fmt::format("{:#x}", call.words[0]);
  }
  // On the card before the first launch wants it, if there is one yet.
  if (const auto card = caller.card()) {
    if (const auto image = image_of(caller, **card, *function); !image) return forward_fault(image);
  }
  call.words[0] = caller.process().functions.add(std::move(function));
  return {};
}

// Words: function, blocks, stream, cores, bytes of arguments, place holders behind them.
Outcome launch_kernel(Caller& caller, CallRecord& call) {
  const auto stream = caller.stream(call.words[2]);
  if (!stream) return forward_fault(stream);
  auto launch = launch_of(caller, call);
  if (!launch) return forward_fault(launch);
  auto& card = *caller.process().card((*stream)->device);
  auto& on = *(*stream)->stream;
  const auto limit = on.limits()[static_cast<std::size_t>(launch->cores)];
  if (launch->function.built_in != nullptr && launch->blocks > limit) launch->blocks = limit;
  const auto image = image_of(caller, card, launch->function);
  if (!image) return forward_fault(image);
  const auto slot = card.arguments().take(card.deadline());
  if (!slot) return forward_fault(slot);
  if (auto put = put_arguments(call, *slot, *launch); !put) return put;
  abi::QueueEntry entries[2];
  std::size_t count = 0;
  if (launch->argument_bytes != 0) {
    entries[count++] =
        driver::entries::copy_to_device(slot->host, slot->device, launch->argument_bytes);
  }
  entries[count++] =
      driver::entries::launch_image(abi::QueueOpcode::kLaunchAiCore, *image, launch->blocks,
                                    slot->device, launch->argument_bytes);
  const auto submitted = on.submit(launch->cores, entries, count);
  if (!submitted) return forward_fault(submitted);
  card.arguments().used_by(*slot, *submitted);
  return {};
}

}  // namespace npu::exec::acl
