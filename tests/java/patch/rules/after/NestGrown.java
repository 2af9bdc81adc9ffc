// refused with 72
class NestGrown { static class One {} static class Two {} }
