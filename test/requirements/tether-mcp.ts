import type { Requirement } from './requirement.ts'

/** What the MCP server promises beyond the document, from the sections that it replaces. */
export const TETHER_MCP: readonly Requirement[] = [
  {
    id: 'TI-132',
    source: 'tether-images:4',
    owner: 'mcp',
    text: 'Discovering the MCP server and listing its tools starts no server and wakes no Instance',
  },
  {
    id: 'TI-133',
    source: 'tether-images:4.2',
    owner: 'mcp',
    text: 'A `tether_read` that is cancelled, or whose host is gone, stops waiting at once',
  },
  {
    id: 'TI-134',
    source: 'tether-images:4.2',
    owner: 'mcp',
    text: 'A host that died reads the answer with the cursor it had, and so does any other host',
  },
  {
    id: 'TI-135',
    source: 'tether-images:4',
    owner: 'mcp',
    text: 'Over stdio nothing but messages is printed, no answer is lost at the end, and no process is left',
  },
  {
    id: 'TI-136',
    source: 'tether-images:4.1',
    owner: 'mcp',
    text: 'A program cannot choose the isolation of an Instance, nor a workspace outside the configured folders',
  },
]
