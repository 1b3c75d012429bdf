fn f() {}
