class ClassMadeFinal {}
