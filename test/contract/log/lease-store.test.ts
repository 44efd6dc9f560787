import { judgeEngines } from './judge-engines.ts'
import { LEASE_STORE_CONTRACT } from './lease-store.ts'

judgeEngines('leases', LEASE_STORE_CONTRACT)
