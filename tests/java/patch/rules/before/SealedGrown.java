sealed interface SealedGrown permits SealedOne {}
final class SealedOne implements SealedGrown {}
