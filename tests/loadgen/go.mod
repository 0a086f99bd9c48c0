module fairlead.dev/tests/loadgen

go 1.24
