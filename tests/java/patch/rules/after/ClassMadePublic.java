// refused with 70
public class ClassMadePublic {}
