// refused with 66
class SuperclassChanged extends Thread {}
