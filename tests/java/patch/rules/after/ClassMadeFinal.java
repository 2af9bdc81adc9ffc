// refused with 70
final class ClassMadeFinal {}
