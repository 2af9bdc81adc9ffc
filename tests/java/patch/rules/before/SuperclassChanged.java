class SuperclassChanged extends Object {}
