module fairlead.dev/cluster/forward

go 1.24
