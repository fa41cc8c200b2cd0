// A Python module in C++: it reads tensors of any library with an exchange table, and has its own
// type with a table.
#include <Python.h>

#include <dlpackgen/all.hpp>
#include <dlpackgen/python_error.hpp>

#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

using dlpackgen::Builder;
using dlpackgen::Error;
using dlpackgen::ErrorCode;
using dlpackgen::ExchangeAPI;
using dlpackgen::Managed;
using dlpackgen::TensorView;

// A Python object that owns a tensor.
struct Object {
  PyObject_HEAD Managed tensor;
};

static PyTypeObject* tensor_type = nullptr;

static PyObject* wrap(Managed tensor) {
  PyObject* const self = PyType_GenericAlloc(tensor_type, 0);
  if (self == nullptr) throw std::bad_alloc();
  new (&reinterpret_cast<Object*>(self)->tensor) Managed(std::move(tensor));
  return self;
}

static void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  reinterpret_cast<Object*>(self)->tensor.~Managed();
  type->tp_free(self);
  Py_DECREF(type);
}

// A tensor that retains the object; its deleter acquires the GIL.
struct Reference {
  explicit Reference(PyObject* o) : object(Py_NewRef(o)) {}
  Reference(Reference&& other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Reference(const Reference&) = delete;
  ~Reference() {
    if (object == nullptr || !Py_IsInitialized()) return;
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(object);
    PyGILState_Release(state);
  }
  PyObject* object;
};

class Table : public dlpackgen::ExchangeProducer<Table>, public dlpackgen::PythonErrors {
 public:
  static Managed allocate(const DLTensor& like) {
    const auto size = dlpackgen::unwrap(dlpackgen::size(like.ndim, like.shape));
    std::vector<float> room(static_cast<std::size_t>(size));
    return dlpackgen::unwrap(Builder().shape({like.shape, static_cast<std::size_t>(like.ndim)}).build(std::move(room)));
  }
  static Managed from_py_object(void* object) {
    auto* const self = static_cast<Object*>(object);
    if (!self->tensor) throw std::logic_error("the tensor was given away");
    return dlpackgen::unwrap(
        Builder::from_view(self->tensor.view()).build(Reference(reinterpret_cast<PyObject*>(self))));
  }
  static void* to_py_object(Managed tensor) {
    if (tensor.view().ndim() > 4) throw dlpackgen::Exception(Error(ErrorCode::ndim_mismatch, 4, tensor.view().ndim()));
    return wrap(std::move(tensor));
  }
  static Error borrow(void* object, DLTensor& out) {
    auto* const self = static_cast<Object*>(object);
    if (!self->tensor) throw std::logic_error("the tensor was given away");
    return dlpackgen::export_borrowed(self->tensor.view(), out);
  }
  static void* current_work_stream(DLDevice) { return nullptr; }
};

// The table of an object's type; throws if there is none.
static ExchangeAPI table_of(PyObject* object) {
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  PyObject* const capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
  if (capsule == nullptr) throw dlpackgen::Exception(ErrorCode::callee_failed);
  void* const newest = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  Py_DECREF(capsule);
  if (newest == nullptr) throw dlpackgen::Exception(ErrorCode::callee_failed);
  return dlpackgen::unwrap(ExchangeAPI::find(static_cast<const DLPackExchangeAPIHeader*>(newest)));
}

// Converts an exception to a Python error.
template <class Call>
static PyObject* python(Call call) {
  try {
    return call();
  } catch (const dlpackgen::Exception& e) {
    Table::set_error("BufferError", e.what());
  } catch (const std::exception& e) {
    Table::set_error("RuntimeError", e.what());
  }
  return nullptr;
}

// The sum of a matrix of float32, borrowed.
static PyObject* total(PyObject*, PyObject* object) {
  return python([&] {
    const TensorView view = dlpackgen::unwrap(table_of(object).borrow(object));
    const auto a = dlpackgen::unwrap(dlpackgen::array_of<const float, 2>(view));
    double sum = 0;
    for (std::int64_t i = 0; i < a.extent(0); ++i) {
      for (std::int64_t j = 0; j < a.extent(1); ++j) sum += static_cast<double>(a(i, j));
    }
    return PyFloat_FromDouble(sum);
  });
}

// Takes ownership of a tensor, and returns it as an object of its library.
static PyObject* through(PyObject*, PyObject* object) {
  return python([&] {
    const ExchangeAPI table = table_of(object);
    Managed tensor = dlpackgen::unwrap(table.from_py_object(object));
    return static_cast<PyObject*>(dlpackgen::unwrap(table.to_py_object(std::move(tensor))));
  });
}

// A new tensor of an object's library, with 2 x 3 floats.
static PyObject* like(PyObject*, PyObject* object) {
  return python([&] {
    const ExchangeAPI table = table_of(object);
    std::int64_t shape[] = {2, 3};
    DLTensor prototype{};
    prototype.device = DLDevice{kDLCPU, 0};
    prototype.ndim = 2;
    prototype.dtype = dlpackgen::dtypes::float32;
    prototype.shape = shape;
    dlpackgen::AllocatorError report;
    auto made = table.allocate(prototype, &report);
    if (!made) throw std::runtime_error(report.message);
    for (float& x : *dlpackgen::flat_of<float>(made->view())) x = 2;
    return static_cast<PyObject*>(dlpackgen::unwrap(table.to_py_object(std::move(*made))));
  });
}

// Our own type: floats from 0 on, with a shape.
static PyObject* make(PyObject*, PyObject* extents) {
  return python([&] {
    std::vector<std::int64_t> shape;
    std::int64_t size = 1;
    for (Py_ssize_t i = 0; i < PyTuple_Size(extents); ++i) {
      shape.push_back(PyLong_AsLongLong(PyTuple_GetItem(extents, i)));
      size *= shape.back();
    }
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < size; ++i) numbers.push_back(static_cast<float>(i));
    return wrap(dlpackgen::unwrap(Builder().shape(shape).build(std::move(numbers))));
  });
}

static PyObject* drop(PyObject*, PyObject* object) {
  reinterpret_cast<Object*>(object)->tensor.reset();
  return Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"total", total, METH_O, nullptr}, {"through", through, METH_O, nullptr}, {"like", like, METH_O, nullptr},
    {"make", make, METH_O, nullptr},   {"drop", drop, METH_O, nullptr},       {nullptr, nullptr, 0, nullptr},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "cppx", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)}, {0, nullptr}};
static PyType_Spec type_spec = {"cppx.Tensor", sizeof(Object), 0, Py_TPFLAGS_DEFAULT, slots};

PyMODINIT_FUNC PyInit_cppx() {
  PyObject* const module = PyModule_Create(&definition);
  PyObject* const type = PyType_FromSpec(&type_spec);
  PyObject* const capsule =
      PyCapsule_New(const_cast<DLPackExchangeAPI*>(Table::table()), "dlpack_exchange_api", nullptr);
  if (module == nullptr || type == nullptr || capsule == nullptr) return nullptr;
  if (PyObject_SetAttrString(type, "__dlpack_c_exchange_api__", capsule) != 0) return nullptr;
  Py_DECREF(capsule);
  tensor_type = reinterpret_cast<PyTypeObject*>(type);
  if (PyModule_AddObjectRef(module, "Tensor", type) != 0) return nullptr;
  return module;
}
