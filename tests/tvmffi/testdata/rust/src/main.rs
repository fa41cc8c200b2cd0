// Calls the kernels by tvm-ffi's own Rust.
use tvm_ffi::*;

fn main() {
    let path = std::env::args().nth(1).unwrap();
    let library = Module::load_from_file(path).unwrap();
    let x = Tensor::from_slice(&[1f32, 2.0, 3.0], &[3]).unwrap();
    let one = Tensor::from_slice(&[0f32; 3], &[3]).unwrap();
    let two = Tensor::from_slice(&[0f32; 3], &[3]).unwrap();
    let pair = library.get_function("pair").unwrap();
    pair.call_tuple((&x, &one, &two)).unwrap();
    assert_eq!(two.data_as_slice::<f32>().unwrap(), &[2.0, 4.0, 6.0]);
    let divide = library.get_function("divide").unwrap();
    divide.call_tuple((7i64, 2i64, 3i64, 1i64)).unwrap();
    let error = divide.call_tuple((20i64, 10i64, 2i64, 0i64)).err().unwrap();
    println!("{}: {}", error.kind().as_str(), error.message());
}
