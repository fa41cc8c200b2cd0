module example.com/gokernel

go 1.24
