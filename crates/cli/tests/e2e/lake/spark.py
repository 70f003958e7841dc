def session(master, settings):
    """Starts Spark with Delta Lake and S3, by packages that Maven has fetched:
    `mvn dependency:get -Dtransitive=false -Dartifact=io.delta:delta-spark_2.13:4.0.0`, and the same of
    `io.delta:delta-storage:4.0.0`, `org.apache.hadoop:hadoop-aws:3.4.1` and `software.amazon.awssdk:bundle:2.24.6`."""
    import pathlib

    from pyspark.sql import SparkSession

    packages = [
        ("io/delta", "delta-spark_2.13", "4.0.0"),
        ("io/delta", "delta-storage", "4.0.0"),
        ("org/apache/hadoop", "hadoop-aws", "3.4.1"),
        ("software/amazon/awssdk", "bundle", "2.24.6"),
    ]
    fetched = pathlib.Path.home() / ".m2/repository"
    jars = [fetched / group / name / version / f"{name}-{version}.jar" for group, name, version in packages]
    assert all(jar.exists() for jar in jars), f"Maven has not fetched all of {jars}"
    known = {
        # The workers find them too, on this machine.
        "spark.jars": ",".join(f"local:{jar}" for jar in jars),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.shuffle.partitions": "1",
        "spark.log.level": "ERROR",
    }
    return SparkSession.builder.master(master).config(map=known | settings).getOrCreate()


