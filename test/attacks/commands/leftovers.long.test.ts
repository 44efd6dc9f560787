import { leftovers } from './leftovers-suite.ts'

leftovers(true)
