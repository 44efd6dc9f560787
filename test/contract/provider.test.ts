import { describe, test } from 'vitest'
import { PROVIDER_KINDS } from './provider-kinds.ts'
import { providerContract } from './provider.ts'

// One suite for every transport to a model: any provider that passes it can replace another.
describe.each(PROVIDER_KINDS)('$name', (kind) => providerContract(kind, test))
