class ClassMadePublic {}
