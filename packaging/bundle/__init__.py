"""What the builds for all platforms share: wheels, pruning, components and their licences, icons, archives."""
