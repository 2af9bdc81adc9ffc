class NestGrown { static class One {} }
