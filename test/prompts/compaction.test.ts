import { compactionSuite } from './compaction-suite.ts'

compactionSuite(20)
