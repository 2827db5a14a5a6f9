// SPDX-License-Identifier: Apache-2.0
// Binaries, functions and launches.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "apps/exec/acl/handlers.hpp"
#include "apps/exec/acl/kernel_files.hpp"
#include "apps/exec/acl/models.hpp"
#include "npu/driver/program.hpp"

namespace npu::exec::acl {
namespace {

constexpr std::uint32_t kMostBlocks = 65535;

// aclrtPlaceHolderInfo
struct Place {
  std::uint32_t address_offset, data_offset;
};

Outcome check_cores(std::uint64_t type) {
  if (type <= wire::kVectorCores || type == wire::kAnyCores) return {};
  return fault(kInvalidParameter, "no kind of core");
}

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

Value<Arguments> arguments_of(const CallOf<Call::kLaunchKernel>& call, Launch& launch) {
  const Bytes size = call.bytes;
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
  arguments.places = {given + size, call.places * sizeof(Place)};
  return arguments;
}

// Those that are in device memory.
Value<driver::PresentArguments> present_arguments(Caller& caller,
                                                  const CallOf<Call::kLaunchKernel>& call,
                                                  const Launch& launch, const ProcessCard& card) {
  constexpr std::uint64_t kAlignment = 64;
  const driver::DeviceAddress at{call.arguments};
  if (launch.function->built_in != nullptr) {
    return fault(kFeature, "arguments of npusim's own kernels are in the host's memory");
  }
  if (call.bytes == 0) return driver::PresentArguments{};
  const auto owner = caller.card_of(at, call.bytes);
  if (!owner) return forward_fault(owner);
  if (at.value % kAlignment != 0 || call.places != 0) {
    return fault(kRuntimeParameter, "arguments in device memory are aligned to 64, without places");
  }
  if (*owner != &card) return fault(kRuntimeParameter, "the arguments are on another device");
  return driver::PresentArguments{at, static_cast<std::uint32_t>(call.bytes)};
}

using Writes = std::function<Status(ByteSpan, driver::DeviceAddress)>;

Writes writes(const Arguments& arguments) {
  return [&arguments](ByteSpan host, driver::DeviceAddress device) -> Status {
    std::memcpy(host.data, arguments.bytes.data(), host.size);
    return fill_in_places(host, device, arguments.places);
  };
}

// As reports have it.
std::string name_of(const Function& function) {
  if (function.built_in != nullptr) return std::string(function.built_in->name);
  if (function.filed != nullptr) return function.filed->name;
  return function.binary->name.empty() ? "kernel" : function.binary->name;
}

// A kernel of the program's. If it has variables, its object has their address.
Value<ProcessCard::Module> own_module(Caller& caller, ProcessCard& card, const Function& function) {
  const auto object = object_of(function);
  const auto& binary = *function.binary;
  if (function.filed == nullptr || binary.variables.size == 0) {
    return card.module(function.key, object, caller.number());
  }
  const auto variables = card.variables(variables_key(binary), values_of(binary), caller.number());
  if (!variables) return forward_fault(variables);
  std::vector<std::byte> placed(object.data, object.data + object.size);
  const std::uint64_t address = (*variables)->address().value;
  std::memcpy(placed.data() + function.filed->layout + offsetof(abi::KernelLayout, variables),
              &address, sizeof address);
  return card.module(function.key, {placed.data(), placed.size()}, caller.number(), 0, *variables);
}

Value<ProcessCard::Module> module_of(Caller& caller, ProcessCard& card, const Function& function) {
  if (function.built_in == nullptr) return own_module(caller, card, function);
  const auto object = caller.process().machine().images(function.built_in->image);
  if (!object) return fault(object.error());
  return card.module(function.key, *object, caller.number());
}

// A kernel of a binary has one handle, however often a program asks for it: launches by <<<>>> do
// each time.
std::uint64_t handle_of(Process& process, const std::shared_ptr<Function>& function) {
  for (const auto& [handle, known] : process.functions.all()) {
    if (known->binary == function->binary && known->built_in == function->built_in &&
        known->key == function->key) {
      return handle;
    }
  }
  return process.functions.add(function);
}

// Of a binary's handle its only kernel, whatever it is called.
std::shared_ptr<Function> only_kernel(Process& process, std::uint64_t handle) {
  const auto binary = process.binaries.find(handle);
  if (binary == nullptr || binary->built_in) return nullptr;
  if (binary->kernels.size() > 1) return nullptr;
  auto function = std::make_shared<Function>();
  function->binary = binary;
  function->filed = binary->kernels.empty() ? nullptr : &binary->kernels.front();
  function->key = key_of(*function);
  return process.functions.find(handle_of(process, function));
}

Value<Launch> launch_of(Caller& caller, const CallOf<Call::kLaunchKernel>& call) {
  if (auto known = check_cores(call.cores); !known) return forward_fault(known);
  auto function = caller.process().functions.find(call.function);
  if (function == nullptr) function = only_kernel(caller.process(), call.function);
  if (function == nullptr || function->binary->unloaded) {
    return fault(kInvalidHandle, "it is no function, or its binary was unloaded");
  }
  if (call.blocks == 0 || call.blocks > kMostBlocks) {
    return fault(kRuntimeParameter,
                 fmt::format("{} blocks, 1 .. {} are possible", call.blocks, kMostBlocks));
  }
  if (call.bytes > abi::kMaxArgumentBytes || call.places > compat::kWindow / sizeof(Place) ||
      (call.arguments != 0 ? 0 : call.bytes) + call.places * sizeof(Place) > call.filled) {
    return fault(kRuntimeParameter, fmt::format("{} bytes of arguments, at most {}", call.bytes,
                                                abi::kMaxArgumentBytes));
  }
  std::uint64_t cores = call.cores;
  const auto* const built_in = function->built_in;
  if (built_in != nullptr && !(built_in->any_cores && cores != wire::kAnyCores)) {
    cores = built_in->on_cube ? 0 : 1;
  } else if (cores == wire::kAnyCores) {
    cores = function->binary->cores;
  }
  const auto blocks = static_cast<std::uint32_t>(call.blocks);
  if (function->filed == nullptr) return Launch{function, cores_of(cores), blocks};
  const auto& kernel = *function->filed;
  if (cores != wire::kAnyCores && kernel.cores != Cores::kMixed &&
      cores_of(cores) != kernel.cores) {
    return fault(kRuntimeParameter, fmt::format("kernel {} is for {} cores", kernel.name,
                                                kernel.cores == Cores::kCube ? "cube" : "vector"));
  }
  return Launch{function, kernel.cores, blocks};
}

wire::Handle added(Process& process, std::shared_ptr<Binary> binary) {
  auto& made = *binary;
  made.handle = process.binaries.add(std::move(binary));
  return wire::Handle{made.handle};
}

}  // namespace

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kBinaryLoad>& call) {
  if (auto known = check_cores(call.cores); !known) return forward_fault(known);
  auto binary = std::make_shared<Binary>();
  binary->built_in = call.built_in != 0;
  binary->cores = call.cores;
  if (!binary->built_in) {
    const Bytes size = call.bytes;
    const auto object = call.first(size);
    if (!object) return forward_fault(object);
    binary->object.assign(object->data, object->data + size);
    if (is_kernel_file({binary->object.data(), size})) {
      const auto read = read_kernel_file(*binary);
      if (!read) return fault(kRuntimeParameter, read.error().context);
      return added(caller.process(), std::move(binary));
    }
    const auto image = driver::make_image(abi::ImageKind::kAiCore, {binary->object.data(), size});
    if (!image) return fault(image.error());
    constexpr char kElf[] = {0x7F, 'E', 'L', 'F'};
    if (size < sizeof kElf || std::memcmp(binary->object.data(), kElf, sizeof kElf) != 0) {
      return fault(kRuntimeParameter, "it is no shared object");
    }
    binary->name = driver::KernelModule::name_in({binary->object.data(), size});
  }
  return added(caller.process(), std::move(binary));
}

namespace {

bool is_used(const Process& process, const std::string& key) {
  const auto all = process.functions.all();
  return std::any_of(all.begin(), all.end(),
                     [&key](const auto& each) { return each.second->key == key; });
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kBinaryUnload>& call) {
  auto& process = caller.process();
  const auto binary = process.binaries.find(call.handle);
  if (binary == nullptr) return fault(kInvalidHandle, "it is no binary");
  process.binaries.remove(call.handle);
  binary->unloaded = true;
  for (const auto& [handle, function] : process.functions.all()) {
    if (function->binary != binary) continue;
    process.functions.remove(handle);
    if (is_used(process, function->key)) continue;  // a built-in one, by another binary
    for (auto* const card : process.cards()) card->drop_module(function->key);
  }
  for (auto* const card : process.cards()) card->drop_variables(variables_key(*binary));
  return {};
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kBinaryGetFunction>& call) {
  const auto binary = caller.process().binaries.find(call.binary);
  if (binary == nullptr) return fault(kInvalidHandle, "it is no binary");
  const auto given = call.first(call.bytes);
  if (!given) return forward_fault(given);
  const std::string name(reinterpret_cast<const char*>(given->data), given->size);
  auto function = std::make_shared<Function>();
  function->binary = binary;
  if (binary->built_in) {
    function->built_in = find_built_in(name);
    if (function->built_in == nullptr) return fault(kRuntimeParameter, "no kernel " + name);
    function->key = "built-in " + std::string(function->built_in->image);
  } else {
    function->filed = find_kernel(binary->kernels, name);
    const bool known = binary->kernels.empty() ? binary->name.empty() || binary->name == name
                                               : function->filed != nullptr;
    if (!known) {
      return fault(kRuntimeParameter,
                   "no kernel " + name + ", the binary has " + names_of(*binary));
    }
    function->key = key_of(*function);
  }
  // On the card before the first launch wants it, if there is one yet.
  if (const auto card = caller.card()) {
    if (const auto there = module_of(caller, **card, *function); !there) {
      return forward_fault(there);
    }
  }
  return wire::Handle{handle_of(caller.process(), function)};
}

// Names in the window, each with a zero byte behind it.
Value<wire::Text> serve(Caller& caller, const CallOf<Call::kBinaryKernels>& call) {
  const auto binary = caller.process().binaries.find(call.handle);
  if (binary == nullptr) return fault(kInvalidHandle, "it is no binary");
  if (binary->built_in) return fault(kFeature, "npusim's own kernels are not listed");
  std::string names;
  for (const auto& kernel : binary->kernels) names += kernel.name + '\0';
  if (binary->kernels.empty()) {
    names = (binary->name.empty() ? std::string("kernel") : binary->name) + '\0';
  }
  if (names.size() > call.window.size) return fault(kInternal, "more names than a call has");
  call.give(names.data(), names.size());
  return wire::Text{names.size()};
}

Value<wire::FunctionInfo> serve(Caller& caller, const CallOf<Call::kFunctionInfo>& call) {
  auto& process = caller.process();
  const auto function = process.functions.find(call.handle);
  if (function == nullptr || function->binary->unloaded) {
    return fault(kInvalidHandle, "it is no function, or its binary was unloaded");
  }
  wire::FunctionInfo info;
  info.binary = function->binary->handle;
  auto cores = cores_of(function->binary->cores);
  if (function->built_in != nullptr) cores = cores_of(function->built_in->on_cube ? 0 : 1);
  if (function->filed != nullptr) cores = function->filed->cores;
  info.cores = cores == Cores::kMixed ? 2 : cores == Cores::kCube ? 0 : 1;
  if (const auto card = caller.card()) {
    const auto module = module_of(caller, **card, *function);
    if (!module) return forward_fault(module);
    info.address = (*module)->image().value;
  }
  info.bytes = function->built_in != nullptr ? 0 : object_of(*function).size;
  info.prints = function->filed != nullptr && function->filed->prints ? 1 : 0;
  const auto name = name_of(*function);
  info.name_bytes = name.size();
  call.give(name.data(), name.size());
  return info;
}

static_assert(sizeof(wire::KernelParameter) == sizeof(abi::KernelFileParameter));
static_assert(wire::kMostParameters == abi::kMostParameters &&
              wire::kMostArguments == abi::kMaxArgumentBytes);
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kFunctionParameters>& call) {
  const auto function = caller.process().functions.find(call.handle);
  if (function == nullptr || function->binary->unloaded) {
    return fault(kInvalidHandle, "it is no function, or its binary was unloaded");
  }
  if (function->filed == nullptr || !function->filed->parameters) {
    return fault(kFeature, "the parameters of kernel " + name_of(*function) + " are not known");
  }
  const auto& parameters = *function->filed->parameters;
  call.give(parameters.data(), parameters.size() * sizeof parameters[0]);
  return wire::Number{parameters.size()};
}

Value<wire::Variable> serve(Caller& caller, const CallOf<Call::kBinaryGlobal>& call) {
  const auto binary = caller.process().binaries.find(call.binary);
  if (binary == nullptr) return fault(kInvalidHandle, "it is no binary");
  const auto given = call.first(call.bytes);
  if (!given) return forward_fault(given);
  const std::string name(reinterpret_cast<const char*>(given->data), given->size);
  const auto& table = binary->variables.table;
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&name](const auto& each) { return each.name == name; });
  if (found == table.end()) return fault(kRuntimeParameter, "no variable " + name);
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const auto variables =
      (*card)->variables(variables_key(*binary), values_of(*binary), caller.number());
  if (!variables) return forward_fault(variables);
  return wire::Variable{(*variables)->address().value + found->offset, found->size};
}

Outcome serve(Caller& caller, const CallOf<Call::kLaunchKernel>& call) {
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  auto launch = launch_of(caller, call);
  if (!launch) return forward_fault(launch);
  auto& card = *caller.process().card((*stream)->device);
  const auto kind = static_cast<std::size_t>(launch->cores);
  const auto limit = limits_of(**stream, card.limits())[kind];
  if (launch->function->built_in != nullptr && launch->blocks > limit) launch->blocks = limit;
  auto module = module_of(caller, card, *launch->function);
  if (!module) return forward_fault(module);
  driver::KernelLaunch what;
  Arguments arguments;
  if (call.arguments != 0) {
    auto present = present_arguments(caller, call, *launch, card);
    if (!present) return forward_fault(present);
    what.present = *present;
  } else {
    auto given = arguments_of(call, *launch);
    if (!given) return forward_fault(given);
    arguments = std::move(*given);
  }
  what.module = std::move(*module);
  what.cores = launch->cores;
  what.blocks = launch->blocks;
  what.most_cores = limit == card.card().cores[kind] ? 0 : limit;
  what.bytes = static_cast<std::uint32_t>(arguments.bytes.size());
  what.timeout = card.kernel_timeout();
  what.write = writes(arguments);
  const ProfiledLaunch profiled(caller.process().profile, card, **stream,
                                name_of(*launch->function));
  return acl::launch(**stream, what);
}

}  // namespace npu::exec::acl
