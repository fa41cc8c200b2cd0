module example.org/tensors

go 1.24
