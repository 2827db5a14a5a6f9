// SPDX-License-Identifier: Apache-2.0
// Binaries, functions and launches.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "apps/exec/acl/handlers.hpp"
#include "npu/driver/program.hpp"

namespace npu::exec::acl {
namespace {

constexpr std::uint64_t kNoCores = UINT64_MAX;  // nobody has said which
constexpr std::uint32_t kMostBlocks = 65535;

// aclrtPlaceHolderInfo
struct Place {
  std::uint32_t address_offset, data_offset;
};

// aclrtEngineType: cube 0, vector 1.
Cores cores_of(std::uint64_t type) {
  return type == 0 ? Cores::kCube : Cores::kVector;
}

struct Launch {
  std::shared_ptr<Function> function;
  Cores cores;
  std::uint32_t blocks;
};

Status fill_in_places(ByteSpan arguments, driver::DeviceAddress device, ConstByteSpan places) {
  for (std::size_t at = 0; at + sizeof(Place) <= places.size; at += sizeof(Place)) {
    Place place{};
    std::memcpy(&place, places.data + at, sizeof place);
    if (place.address_offset + sizeof(std::uint64_t) > arguments.size ||
        place.data_offset > arguments.size) {
      return fail(ErrorCode::kInvalidArgument, "a place holder outside of the arguments");
    }
    const std::uint64_t address = device.value + place.data_offset;
    std::memcpy(arguments.data + place.address_offset, &address, sizeof address);
  }
  return {};
}

// Of the call, and what a built-in kernel makes of them.
struct Arguments {
  std::vector<std::byte> bytes;
  ConstByteSpan places;
};

Value<Arguments> arguments_of(const CallRecord& call, Launch& launch) {
  const Bytes size = call.words[4];
  Arguments arguments;
  const auto* given = call.window.data;
  if (launch.function->built_in != nullptr) {
    const auto words =
        launch.function->built_in->words(*launch.function->built_in, {given, size}, &launch.blocks);
    if (!words) return fault(words.error());
    const auto* const first = reinterpret_cast<const std::byte*>(words->data());
    arguments.bytes.assign(first, first + words->size() * sizeof(std::uint64_t));
    return arguments;
  }
  arguments.bytes.assign(given, given + size);
  arguments.places = {given + size, call.words[5] * sizeof(Place)};
  return arguments;
}

Value<ProcessCard::Module> module_of(Caller& caller, ProcessCard& card, const Function& function) {
  if (function.built_in == nullptr) {
    const auto& object = function.binary->object;
    return card.module(function.key, {object.data(), object.size()}, caller.number());
  }
  const auto object = caller.process().machine().images(function.built_in->image);
  if (!object) return fault(object.error());
  return card.module(function.key, *object, caller.number());
}

// Of a binary's handle its only kernel, whatever it is called.
std::shared_ptr<Function> only_kernel(Process& process, std::uint64_t handle) {
  const auto binary = process.binaries.find(handle);
  if (binary == nullptr || binary->built_in) return nullptr;
  const auto key = fmt::format("{:#x}", handle);
  for (const auto& [known, function] : process.functions.all()) {
    if (function->key == key) return function;
  }
  auto function = std::make_shared<Function>();
  function->binary = binary;
  function->key = key;
  process.functions.add(function);
  return function;
}

Value<Launch> launch_of(Caller& caller, const CallRecord& call) {
  auto function = caller.process().functions.find(call.words[0]);
  if (function == nullptr) function = only_kernel(caller.process(), call.words[0]);
  if (function == nullptr || function->binary->unloaded) {
    return fault(kInvalidHandle, "it is no function, or its binary was unloaded");
  }
  if (call.words[1] == 0 || call.words[1] > kMostBlocks) {
    return fault(kRuntimeParameter,
                 fmt::format("{} blocks, 1 .. {} are possible", call.words[1], kMostBlocks));
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
  return Launch{function, cores_of(cores), static_cast<std::uint32_t>(call.words[1])};
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
    binary->name = driver::KernelModule::name_in({binary->object.data(), size});
  }
  call.words[0] = caller.process().binaries.add(std::move(binary));
  return {};
}

namespace {

bool is_used(const Process& process, const std::string& key) {
  const auto all = process.functions.all();
  return std::any_of(all.begin(), all.end(),
                     [&key](const auto& each) { return each.second->key == key; });
}

}  // namespace

Outcome unload_binary(Caller& caller, CallRecord& call) {
  auto& process = caller.process();
  const auto binary = process.binaries.find(call.words[0]);
  if (binary == nullptr) return fault(kInvalidHandle, "it is no binary");
  process.binaries.remove(call.words[0]);
  binary->unloaded = true;
  for (const auto& [handle, function] : process.functions.all()) {
    if (function->binary != binary) continue;
    process.functions.remove(handle);
    if (is_used(process, function->key)) continue;  // a built-in one, by another binary
    for (auto* const card : process.cards()) card->drop_module(function->key);
  }
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
    if (const auto there = module_of(caller, **card, *function); !there) {
      return forward_fault(there);
    }
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
  const auto kind = static_cast<std::size_t>(launch->cores);
  const auto limit = limits_of(**stream, card.limits())[kind];
  if (launch->function->built_in != nullptr && launch->blocks > limit) launch->blocks = limit;
  auto module = module_of(caller, card, *launch->function);
  if (!module) return forward_fault(module);
  const auto arguments = arguments_of(call, *launch);
  if (!arguments) return forward_fault(arguments);
  driver::KernelLaunch what;
  what.module = std::move(*module);
  what.cores = launch->cores;
  what.blocks = launch->blocks;
  what.most_cores = limit == card.card().cores[kind] ? 0 : limit;
  what.bytes = static_cast<std::uint32_t>(arguments->bytes.size());
  what.write = [&arguments](ByteSpan host, driver::DeviceAddress device) -> Status {
    std::memcpy(host.data, arguments->bytes.data(), host.size);
    return fill_in_places(host, device, arguments->places);
  };
  const auto submitted = (*stream)->stream->launch(what);
  if (submitted) return {};
  if (submitted.error().code == ErrorCode::kInvalidArgument) {
    return fault(kInvalidParameter, submitted.error().message());
  }
  return submission_fault(submitted.error());
}

}  // namespace npu::exec::acl
