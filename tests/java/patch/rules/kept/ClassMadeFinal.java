final class ClassMadeFinal {}
