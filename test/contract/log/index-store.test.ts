import { judgeEngines } from './judge-engines.ts'
import { INDEX_STORE_CONTRACT } from './index-store.ts'

judgeEngines('indexes', INDEX_STORE_CONTRACT)
