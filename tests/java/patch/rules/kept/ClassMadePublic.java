public class ClassMadePublic {}
