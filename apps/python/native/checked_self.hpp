// SPDX-License-Identifier: Apache-2.0
// Methods for pybind11 that can be called on anything. By itself it hands a null pointer to a
// method that is called on None, and memory without an object to one of an object whose constructor
// has not run (`Card.__new__(Card).close()`). What is held by a shared pointer is looked at first:
// the one is a TypeError, the other a RuntimeError.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <memory>
#include <utility>

namespace npu::python {

template <class T>
T& object_of(const std::shared_ptr<T>& held) {
  if (held == nullptr) throw pybind11::type_error("None is no object of this type");
  return *held;
}

template <class R, class C, class... A>
auto on(R (C::*method)(A...)) {
  return [method](const std::shared_ptr<C>& self, A... arguments) -> R {
    return (object_of(self).*method)(std::forward<A>(arguments)...);
  };
}

template <class R, class C, class... A>
auto on(R (C::*method)(A...) const) {
  return [method](const std::shared_ptr<C>& self, A... arguments) -> R {
    return (object_of(self).*method)(std::forward<A>(arguments)...);
  };
}

// An attribute that is read and written.
template <class C, class T, class... Options>
void define_field(pybind11::class_<C, Options...>& type, const char* name, T C::*member) {
  type.def_property(
      name, [member](const std::shared_ptr<C>& self) -> T { return object_of(self).*member; },
      [member](const std::shared_ptr<C>& self, T value) {
        object_of(self).*member = std::move(value);
      });
}

// pybind11's base of all types throws out of its constructor when it is called by itself, as
// pickle's first protocols do, which ends the interpreter. Called in front of the first type.
inline void check_base() {
  auto& base = *reinterpret_cast<PyTypeObject*>(pybind11::detail::get_internals().instance_base);
  static const auto kOriginal = base.tp_new;
  base.tp_new = [](PyTypeObject* type, PyObject* arguments, PyObject* names) -> PyObject* {
    try {
      return kOriginal(type, arguments, names);
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_TypeError, error.what());
      return nullptr;
    }
  };
}

// In front of the buffer protocol of `type`: an object without a constructor's run has no buffer.
template <class C, class... Options>
void check_buffers(pybind11::class_<C, Options...>& type) {
  namespace detail = pybind11::detail;
  auto& protocol = reinterpret_cast<PyHeapTypeObject*>(type.ptr())->as_buffer;
  static const auto kOriginal = protocol.bf_getbuffer;
  protocol.bf_getbuffer = [](PyObject* object, Py_buffer* view, int flags) {
    auto* const instance = reinterpret_cast<detail::instance*>(object);
    if (!instance->get_value_and_holder().holder_constructed()) {
      PyErr_SetString(PyExc_BufferError, "the object's constructor has not run");
      return -1;
    }
    return kOriginal(object, view, flags);
  };
}

}  // namespace npu::python
