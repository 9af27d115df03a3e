module deadlocks

go 1.19
