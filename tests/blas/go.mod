module github.com/dlpackgen/dlpackgen/tests/blas

go 1.25.0

require (
	github.com/dlpackgen/dlpackgen v0.0.0
	gonum.org/v1/gonum v0.16.0
)

replace github.com/dlpackgen/dlpackgen => ../..
