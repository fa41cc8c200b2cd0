module example.com/hosts

go 1.24
