module fairlead.dev/cluster/testpod

go 1.24
